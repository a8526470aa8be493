"""Every exception and warning that tripletree raises on purpose."""


class TripleTreeError(Exception):
    """Base of all errors of this package; its text is meant for the user, without a traceback."""


class LogError(TripleTreeError, ValueError):
    """A log cannot be used as it is: the text says what came, what is allowed and what to type."""


class ParameterError(TripleTreeError, ValueError):
    """An argument has a wrong value or type."""


class ModelFileError(TripleTreeError, ValueError):
    """A model file cannot be read (damaged, hostile, of another format) or cannot be written."""


class LogNotFoundError(LogError, FileNotFoundError):
    """The file of a log, or of its description, is not there."""


class ModelNotFoundError(ModelFileError, FileNotFoundError):
    """The model file is not there."""


class NotFittedError(TripleTreeError, AttributeError):
    """A question was asked of a tree that has not been grown."""


class MissingDependencyError(TripleTreeError, ImportError):
    """An optional package is needed; the text holds the pip command."""


class TripleTreeWarning(UserWarning):
    """Something that the user should know, and that does not stop the work."""
