from __future__ import annotations

import itertools

import numpy as np
import pytest

from tripletree.scenes import colours


def oklab(colour: str) -> np.ndarray:
    """Lightness and the two opponent axes of a hex colour (Ottosson 2020)."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    cones = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566]]
    cones.append([0.0883024619, 0.2817188376, 0.6299787005])
    mixed = np.cbrt(np.array(cones) @ linear)
    axes = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099]]
    axes.append([0.0259040371, 0.7827717662, -0.8086757660])
    return np.array(axes) @ mixed


@pytest.mark.parametrize("name", ["VIRIDIS", "CIVIDIS", "EMBERS", "SEA"])
def test_sequential_colours_go_one_way_from_dark_to_light(name):
    lightness = np.array([oklab(colour)[0] for colour in getattr(colours, name)])
    steps = np.diff(lightness) * np.sign(lightness[-1] - lightness[0])
    assert (steps > 0).all()
    assert np.ptp(lightness) > 0.6


def test_diverging_colours_are_balanced_about_a_light_middle():
    lightness = np.array([oklab(colour)[0] for colour in colours.DIVERGING])
    np.testing.assert_allclose(lightness, lightness[::-1], atol=0.02)
    middle = len(lightness) // 2
    assert lightness.argmax() == middle
    assert np.linalg.norm(oklab(colours.DIVERGING[middle])[1:]) < 0.01


# Deuteranopia (Machado et al. 2009, severity 1), in linear RGB.
LOSS = np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]])


def seen(colour: str) -> np.ndarray:
    """A colour as it is seen by readers who cannot tell red from green."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.clip(LOSS @ np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4), 0, 1)
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)


def test_categories_differ_for_readers_who_cannot_tell_red_from_green():
    for one, other in itertools.combinations([*colours.CATEGORIES, colours.OTHER], 2):
        assert np.linalg.norm(seen(one) - seen(other)) > 0.08


@pytest.mark.parametrize(
    ("mine", "others"),
    [
        (colours.PHASES, (*colours.CATEGORIES, *colours.ATTRIBUTE_COLOURS, colours.HERE)),
        (colours.PLACES, (*colours.CATEGORIES, colours.HERE, colours.THERE)),
    ],
)
def test_phases_and_places_have_colours_of_their_own(mine, others):
    for one, other in itertools.product(mine, others):
        assert np.linalg.norm(oklab(one) - oklab(other)) > 0.08
        assert np.linalg.norm(seen(one) - seen(other)) > 0.08
    for one, other in itertools.combinations(mine, 2):
        assert np.linalg.norm(seen(one) - seen(other)) > 0.08


def test_letters_are_chosen_by_the_colour_below_them():
    assert [colours.dark(colour) for colour in ("#000000", "#ffffff", "#440154", "#fde725")] == [True, False] * 2
