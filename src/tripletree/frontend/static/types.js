// The shapes of things that several modules of the explorer share, as JSDoc types; nothing runs here.

/**
 * What is selected, and nothing else: every view draws from it, and the address holds it.
 * @typedef {object} Selection
 * @property {string} tab which panel is open beside the map
 * @property {number} x feature across the map
 * @property {number} y feature up the map
 * @property {string} colour what the map is coloured by
 * @property {"all" | "here" | "within"} rest other features: averaged, at the state, or within limits
 * @property {Record<string, [number, number]>} limits limits of other features, by name
 * @property {boolean} arrows whether mean moves are drawn
 * @property {[number, number, number, number] | null} zoom the part of the map that is seen: x from, to, y from, to
 * @property {number[]} state the state that is asked about
 * @property {string} about what is explained
 * @property {string} foil what should be predicted instead, as text
 * @property {string[]} fixed features that may not change
 * @property {number | null} episode the episode that is open
 * @property {number} step the step of it that is looked at
 * @property {string} given which episodes are listed, as a condition
 * @property {string} sort how they are sorted
 * @property {string} from where routes start, as a condition
 * @property {string} to where routes end, as a condition
 * @property {number | null} phase the phase of the machine that is selected
 * @property {boolean} inside whether the machine is seen from within that phase, leaf by leaf
 * @property {number | null} leaves the size of the tree; null: as it was grown
 * @property {[number, number, number] | null} theta weights of action, value and derivative; null: as it was grown
 * @property {string} model the handle of the tree: "a", or "a~1" for one that was regrown
 * @property {boolean} beside whether the second model is shown beside the first
 */

/**
 * Who answers. The views know nothing else of where they are.
 * @typedef {object} Host
 * @property {"server" | "notebook" | "report"} kind
 * @property {(question: string, args?: Record<string, any>, signal?: AbortSignal) => Promise<any>} ask
 * @property {() => string} [recall] the selection as it was remembered, where the page's address cannot hold it
 * @property {(text: string) => void} [remember]
 */

/**
 * A feature as the tree's payload has it.
 * @typedef {object} FeatureInfo
 * @property {string} name
 * @property {string} unit
 * @property {string} label
 * @property {boolean} whole
 * @property {number} min
 * @property {number} max
 * @property {number} span
 * @property {number} patch
 * @property {{label: string, low: number, high: number, ticks: [number, string][]}} axis
 */

/** @typedef {Record<string, any> & {features: FeatureInfo[], leaves: number, count: number[]}} TreeData */

/** @typedef {{label: string, low: number, high: number, log?: boolean, ticks?: [number, string][]}} AxisInfo */

/**
 * A picture as `tripletree.scenes` computed it.
 * @typedef {object} SceneInfo
 * @property {string} title
 * @property {string} subtitle
 * @property {AxisInfo} x
 * @property {AxisInfo} y
 * @property {Record<string, any>[]} marks
 * @property {ScaleInfo | null} colours
 * @property {{label: string, colour: string, symbol: string, opacity: number}[]} legend
 * @property {string} note
 */

/** @typedef {{label: string, stops: string[], low: number, high: number, kind: string, categories: string[]}} ScaleInfo */

/**
 * Where a picture lies on its canvas, and what part of it is seen.
 * @typedef {object} Frame
 * @property {number} left
 * @property {number} right
 * @property {number} top
 * @property {number} floor
 * @property {number} width
 * @property {number} height
 * @property {[number, number]} xs values at the left and right
 * @property {[number, number]} ys values at the bottom and top
 * @property {(value: number) => number} px where a value lies across
 * @property {(value: number) => number} py where a value lies up
 * @property {(at: number) => number} xAt
 * @property {(at: number) => number} yAt
 */

/** @typedef {{fill?: string, stroke?: string, width?: number, opacity?: number, dash?: number[]}} Style */
/** @typedef {{size?: number, fill?: string, align?: string, turn?: number, halo?: string, weight?: number}} Lettering */

/**
 * What a picture is drawn with: a canvas on the screen, or an SVG file.
 * @typedef {object} Pen
 * @property {(x: number, y: number, w: number, h: number, style: Style) => void} rect
 * @property {(d: string, style: Style) => void} path
 * @property {(x: number, y: number, r: number, style: Style) => void} disc
 * @property {(x: number, y: number, text: string, style: Lettering) => void} text
 * @property {(x: number, y: number, w: number, h: number, rgba: Uint8ClampedArray, columns: number, rows: number) => void} image
 * @property {(x: number, y: number, w: number, h: number, draw: () => void) => void} within
 */

export {};
