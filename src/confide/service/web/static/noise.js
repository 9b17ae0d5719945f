// A participant's own noise: exact draws from the browser's randomness, and the report that the device sends.
//
// The same samplers, bit for bit, as confide.privacy.noise.exact_draws, whose first lines say how bytes become draws.
// Nothing is fetched, stored or sent by this module: it gives the report to the page, which shows it before it goes.
//
// Source: Canonne, Kamath and Steinke 2020, Algorithms 1 to 3.
/** A typed value cannot be used; the text names the field and never repeats what stands in it. */
export class NotUsable extends Error {
    constructor(field, problem) {
        super(`${field}: ${problem}`);
        this.name = "NotUsable";
        this.field = field;
    }
}
/** Instructions whose level is above what this device, or the page that gives them, states as the largest. */
export class LevelTooHigh extends RangeError {
    constructor() {
        super("instructions: the level is above the largest one");
        this.name = "LevelTooHigh";
    }
}
/** The level above which nothing is drawn for any service: in nats, and of a lattice as rho. e^10 is 22026. */
export const LARGEST_LEVEL = 10;
const SURE = 64n; // standard deviations that noise on a lattice never reaches: the chance is below 10^-880
const MOST_DIGITS = 300; // of a whole number in instructions: as a double it is finite
// Rounds in a row that each fail with probability 0.65 at most: no honest source does that once in 2^1000 draws.
const STUCK = 2000;
const LARGEST_REQUEST = 65536; // of crypto.getRandomValues
/** The browser's cryptographic generator. */
export function systemBytes(count) {
    const found = new Uint8Array(count);
    for (let start = 0; start < count; start += LARGEST_REQUEST) {
        globalThis.crypto.getRandomValues(found.subarray(start, start + LARGEST_REQUEST));
    }
    return found;
}
function broken() {
    return new Error("exact draws: the source of randomness is broken");
}
function bitLength(value) {
    return value === 0n ? 0 : value.toString(2).length;
}
function checked(numerator, denominator, least) {
    if (numerator < least)
        throw new RangeError("numerator is too small");
    if (denominator < 1n)
        throw new RangeError("denominator is too small");
}
/** A uniform whole number in 0..limit - 1. */
export function uniformBelow(limit, source) {
    if (limit < 1n)
        throw new RangeError("limit is too small");
    const bits = bitLength(limit - 1n);
    if (bits === 0)
        return 0n;
    const count = Math.ceil(bits / 8);
    for (let round = 0; round < STUCK; round++) {
        const block = source(count);
        if (block.length !== count)
            break;
        let found = 0n;
        for (const byte of block)
            found = (found << 8n) | BigInt(byte);
        found = BigInt.asUintN(bits, found);
        if (found < limit)
            return found;
    }
    throw broken();
}
/** True with probability numerator/denominator. */
export function bernoulli(numerator, denominator, source) {
    checked(numerator, denominator, 0n);
    if (numerator > denominator)
        throw new RangeError("numerator is above the denominator");
    return uniformBelow(denominator, source) < numerator;
}
/** True with probability exp(-numerator/denominator). */
export function bernoulliExp(numerator, denominator, source) {
    checked(numerator, denominator, 0n);
    while (numerator > denominator) {
        if (!withinOne(1n, 1n, source))
            return false;
        numerator -= denominator;
    }
    return withinOne(numerator, denominator, source);
}
/** exp(-x) for x in [0, 1]: of coins with probabilities x, x/2, x/3, ..., the first that fails is an odd one. */
function withinOne(numerator, denominator, source) {
    for (let k = 1; k < STUCK; k++) {
        if (!bernoulli(numerator, denominator * BigInt(k), source))
            return k % 2 === 1;
    }
    throw broken();
}
/** k-ary randomised response: what to add to an answer, modulo k; 0 (the truth) with the given probability. */
export function shiftWithKeep(numerator, denominator, categories, source) {
    if (categories < 2n)
        throw new RangeError("categories are too few");
    if (bernoulli(numerator, denominator, source))
        return 0n;
    return 1n + uniformBelow(categories - 1n, source);
}
/** k-ary randomised response at a rational level: 0 has the odds e^level against each other shift, exactly. */
export function shiftAtLevel(numerator, denominator, categories, source) {
    if (categories < 2n)
        throw new RangeError("categories are too few");
    for (let round = 0n; round < BigInt(STUCK) * categories; round++) {
        const shift = uniformBelow(categories, source);
        const taken = bernoulliExp(numerator, denominator, source);
        if (shift === 0n || taken)
            return shift;
    }
    throw broken();
}
/** A whole number y with probability proportional to exp(-|y|/scale). */
export function discreteLaplace(numerator, denominator, source) {
    checked(numerator, denominator, 1n);
    for (let round = 0; round < STUCK; round++) {
        const part = uniformBelow(numerator, source);
        if (!bernoulliExp(part, numerator, source))
            continue;
        let times = 0;
        while (times < STUCK && bernoulliExp(1n, 1n, source))
            times++;
        const size = (part + numerator * BigInt(times)) / denominator;
        const negative = bernoulli(1n, 2n, source);
        if (!(negative && size === 0n))
            return negative ? -size : size;
    }
    throw broken();
}
/** A whole number y with probability proportional to exp(-y^2/(2 variance)). */
export function discreteGaussian(numerator, denominator, source) {
    checked(numerator, denominator, 1n);
    const width = integerRoot(numerator / denominator) + 1n;
    for (let round = 0; round < STUCK; round++) {
        const found = discreteLaplace(width, 1n, source);
        const size = found < 0n ? -found : found;
        const far = size * denominator * width - numerator;
        if (bernoulliExp(far * far, 2n * numerator * denominator * width * width, source))
            return found;
    }
    throw broken();
}
/** The floor of a square root, by Newton's steps from above. */
function integerRoot(value) {
    if (value < 2n)
        return value;
    let found = 1n << BigInt((bitLength(value) + 1) >> 1);
    for (;;) {
        const next = (found + value / found) >> 1n;
        if (next >= found)
            return found;
        found = next;
    }
}
/** A finite double as the number that it is. */
function rationalOf(value) {
    if (!Number.isFinite(value))
        throw new RangeError("not a finite number");
    let denominator = 1n;
    while (!Number.isInteger(value)) { // doubling is exact: a double that is no whole number is far below the largest
        value *= 2;
        denominator *= 2n;
    }
    return { numerator: BigInt(value), denominator };
}
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
function typedNumber(field, typed) {
    const text = typedText(field, typed);
    const found = DECIMAL.test(text) ? Number(text) : NaN;
    if (!Number.isFinite(found))
        throw new NotUsable(field, "is not a number");
    return found;
}
function typedText(field, typed) {
    return Object.prototype.hasOwnProperty.call(typed, field) ? String(typed[field]).trim() : "";
}
/** A whole number of the instructions. */
function wholeNumber(name, text) {
    if (!/^\d+$/.test(text) || text.length > MOST_DIGITS) {
        throw new RangeError(`instructions: ${name} is not a whole number`);
    }
    return BigInt(text);
}
/** A text as forms give it: nothing that would be read as another one. */
function named(name, text) {
    if (typeof text !== "string" || text === "" || text !== text.trim()) {
        throw new RangeError(`instructions: ${name} is not a text that can be typed`);
    }
}
/** The one level of a response, as it stands there. */
function givenLevel(epsilon) {
    const found = {
        numerator: wholeNumber("numerator", epsilon.numerator),
        denominator: wholeNumber("denominator", epsilon.denominator),
    };
    checked(found.numerator, found.denominator, 0n);
    return found;
}
/** The largest level that a response can have, whatever is typed. */
function largestLevel({ answers, input, epsilon, levels }) {
    if (!Array.isArray(answers))
        throw new RangeError("instructions: no list of answers");
    answers.forEach((answer) => named("an answer", answer)); // one that cannot be typed would show by leaving nothing
    if (answers.length < 2 || new Set(answers).size < answers.length) {
        throw new RangeError("instructions: the answers are too few, or not different");
    }
    if ((epsilon === undefined) === (levels === undefined))
        throw new RangeError("instructions: no level, or two");
    if (epsilon !== undefined)
        return givenLevel(epsilon);
    const { worth, epsilon: least, threshold, ceiling } = levels;
    named("worth", worth);
    // whether a participant takes part, which everybody sees, would follow from the answer
    if (worth === input)
        throw new RangeError("instructions: the answer is no measure of the worth of privacy");
    rationalOf(threshold);
    rationalOf(least);
    if (!(least >= 0 && least <= ceiling))
        throw new RangeError("instructions: the least level is above the ceiling");
    return rationalOf(ceiling);
}
/** rho of a lattice: half the square of what a number can move, in standard deviations of the noise. */
function rhoOf(instructions) {
    const steps = wholeNumber("steps", instructions.steps);
    const sigma = wholeNumber("sigma", instructions.sigma);
    const { low, high } = instructions;
    rationalOf(Number(low));
    rationalOf(Number(high));
    if (!(Number(low) < Number(high)))
        throw new RangeError("instructions: the range is empty");
    if (steps === 0n)
        return { numerator: 0n, denominator: 1n };
    if (sigma < 1n)
        throw new RangeError("instructions: no noise");
    if (steps + SURE * sigma >= 1n << 63n)
        throw new RangeError("instructions: reports would be beyond 64 bits");
    return { numerator: steps * steps, denominator: 2n * sigma * sigma };
}
/** The most that instructions can cost, if that is not too much: they are judged before anything that is typed. */
function admitted(instructions, stated) {
    if (instructions.law !== "response" && instructions.law !== "lattice") {
        throw new RangeError("instructions: a law that this device does not know");
    }
    named("input", instructions.input);
    named("column", instructions.column);
    const most = instructions.law === "response" ? largestLevel(instructions) : rhoOf(instructions);
    for (const limit of [rationalOf(LARGEST_LEVEL), rationalOf(stated)]) {
        if (most.numerator * limit.denominator > limit.numerator * most.denominator)
            throw new LevelTooHigh();
    }
    return most;
}
function asNumber(value) {
    return Number(value.numerator) / Number(value.denominator);
}
/** The probability of the truth among so many answers. */
function truthAt(level, answers) {
    return 1 / (1 + (answers - 1) * Math.exp(-level));
}
/** The noise's standard deviation, in the unit of what is typed. */
function deviationOf({ low, high, steps, sigma }) {
    return Number(sigma) * (Number(high) - Number(low)) / Number(steps);
}
function staysOf(instructions) {
    const worth = instructions.law === "response" ? instructions.levels?.worth : undefined;
    return worth === undefined ? [instructions.input] : [instructions.input, worth];
}
/** The level of the report; null where the participant takes no part. The instructions are admitted. */
function levelOf(instructions, typed) {
    const { epsilon, levels } = instructions;
    if (epsilon !== undefined)
        return givenLevel(epsilon);
    const { worth, epsilon: least, threshold, ceiling } = levels;
    const cost = typedNumber(worth, typed);
    if (!(cost > 0))
        throw new NotUsable(worth, "must be above 0");
    if (cost > threshold)
        return null;
    if (cost === threshold)
        return rationalOf(least);
    const far = Math.cosh(least / 2) * Math.sqrt((threshold - cost) / cost);
    const level = 2 * Math.asinh(Math.hypot(far, Math.sinh(least / 2)));
    return rationalOf(Math.min(Math.max(level, least), ceiling));
}
/** The typed number in steps of the lattice: exactly, the even one of two that are as near. */
function centerOf(instructions, given) {
    const low = rationalOf(Number(instructions.low));
    const high = rationalOf(Number(instructions.high));
    const value = rationalOf(Math.min(Math.max(given, Number(instructions.low)), Number(instructions.high)));
    const shared = low.denominator * high.denominator * value.denominator;
    const at = (each) => each.numerator * (shared / each.denominator);
    const span = at(high) - at(low); // above 0: the instructions are admitted
    const scaled = wholeNumber("steps", instructions.steps) * (at(value) - at(low)); // both are at least 0
    const down = scaled / span;
    const twice = 2n * (scaled - down * span);
    return twice > span || (twice === span && down % 2n === 1n) ? down + 1n : down;
}
/** 64 bits in two's complement. */
function word(message) {
    if (BigInt.asIntN(64, message) !== message)
        throw new RangeError("the report is beyond 64 bits");
    return BigInt.asUintN(64, message).toString(16).padStart(16, "0");
}
function planned(instructions, typed, stated) {
    admitted(instructions, stated);
    const given = typedText(instructions.input, typed);
    const stays = staysOf(instructions);
    const nothing = { preview: { columns: [instructions.column], takesPart: false, stays }, draw: () => "" };
    switch (instructions.law) {
        case "response": {
            const { answers } = instructions;
            if (given === "")
                return nothing;
            const place = answers.indexOf(given);
            if (place < 0)
                throw new NotUsable(instructions.input, "is none of the answers");
            const level = levelOf(instructions, typed);
            if (level === null)
                return nothing;
            const rest = Math.exp(-asNumber(level));
            const whole = 1 + (answers.length - 1) * rest;
            const preview = {
                columns: [instructions.column], takesPart: true, stays,
                odds: answers.map((answer, k) => ({ answer, probability: (k === place ? 1 : rest) / whole })),
                level: { numerator: String(level.numerator), denominator: String(level.denominator) },
            };
            const count = BigInt(answers.length);
            const draw = (source) => {
                const shift = shiftAtLevel(level.numerator, level.denominator, count, source);
                return answers[Number((BigInt(place) + shift) % count)];
            };
            return { preview, draw };
        }
        case "lattice": {
            const steps = wholeNumber("steps", instructions.steps);
            if (given === "" || steps === 0n)
                return nothing;
            const center = centerOf(instructions, typedNumber(instructions.input, typed));
            const sigma = wholeNumber("sigma", instructions.sigma);
            const preview = {
                columns: [instructions.column], takesPart: true, stays, deviation: deviationOf(instructions),
            };
            return { preview, draw: (source) => word(center + discreteGaussian(sigma * sigma, 1n, source)) };
        }
    }
}
/**
 * What instructions can cost at most; nothing is typed or drawn yet. Throws LevelTooHigh where their level is above
 * LARGEST_LEVEL or above the stated one, and RangeError where they make no sense.
 */
export function termsOf(instructions, stated = LARGEST_LEVEL) {
    const level = asNumber(admitted(instructions, stated));
    const both = { columns: [instructions.column], stays: staysOf(instructions), level };
    if (instructions.law === "response") {
        const found = { ...both, truth: truthAt(level, instructions.answers.length) };
        return instructions.levels === undefined ? found : { ...found, threshold: instructions.levels.threshold };
    }
    return wholeNumber("steps", instructions.steps) === 0n ? both : { ...both, deviation: deviationOf(instructions) };
}
/**
 * What will leave the device; nothing is drawn. Throws as termsOf, and NotUsable where a typed value cannot be used.
 */
export function previewOf(instructions, typed, stated = LARGEST_LEVEL) {
    return planned(instructions, typed, stated).preview;
}
/** Draws the report that is handed in, and throws as previewOf. Each call draws anew, and costs its level again. */
export function followInstructions(instructions, typed, bytes = systemBytes, stated = LARGEST_LEVEL) {
    const { preview, draw } = planned(instructions, typed, stated);
    return { row: { [instructions.column]: draw(bytes) }, preview };
}
