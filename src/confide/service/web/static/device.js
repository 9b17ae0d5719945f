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
// What a participant's own device does: it says what it would do, draws the report, shows it, and puts it alone into
// the form that is sent.
//
// The form in which a participant types has no way to the server (method "dialog"), and is shown only once this script
// holds it. A report is drawn once: drawing again would cost the level again. So this device keeps what it drew, under
// the campaign and the id and for this participant alone, until asked to forget; it draws nothing that it cannot keep,
// nothing by instructions that have changed since, and nothing where the service has a report already. To look whether
// it has drawn, to draw and to keep is one transaction of IndexedDB, which browsers run one after another whatever the
// number of tabs. Locks (navigator.locks) are not there where a page came without TLS; and localStorage, which each
// process of a browser may hold a copy of, is not the same in all tabs at once, with a lock or without.
//
// In device.js it stands below the text of noise.js, whose names it uses, and imports nothing: one file has one digest.

const typing = document.getElementById("device");
const sending = document.getElementById("send");
const problem = document.getElementById("problem");
const terms = document.getElementById("terms");
const back = document.getElementById("back");
const instructions = JSON.parse(typing.dataset.instructions);
const stated = Number(document.getElementById("stated").textContent); // the number that the page shows, in full
const place = `confide ${typing.dataset.campaign} ${typing.dataset.who} report`;

let showing = null; // the row that is shown

/** A reason of `problem`, by its name; nothing is drawn and nothing is sent. */
class Refusal extends Error {}

/** The same text for the same instructions, whatever the order in which they are written. */
function inOrder(value) {
  if (Array.isArray(value)) return `[${value.map(inOrder).join()}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${inOrder(value[name])}`).join()}}`;
}

/** Where this device keeps what it drew; share.js and leave.js know it too. */
function keeping() {
  return new Promise((done, failed) => {
    const asked = indexedDB.open("confide", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("kept");
    asked.onsuccess = () => done(asked.result);
    asked.onerror = asked.onblocked = () => failed(asked.error);
  });
}

/**
 * What a step does with what is kept: all of it or nothing, on the disk, and nothing of another tab in between. The
 * step is given the store, and a function by which it goes on with what it has asked for; it gives what `within` gives.
 */
async function within(mode, step) {
  let database;
  let reason; // of a step that did not go on
  try {
    database = await keeping();
    return await new Promise((done, failed) => {
      const transaction = database.transaction("kept", mode, { durability: "strict" });
      let found;
      const then = (request, next) => {
        request.onsuccess = () => {
          try {
            found = next(request.result);
          } catch (error) {
            reason = error;
            transaction.abort();
          }
        };
      };
      transaction.oncomplete = () => done(found);
      transaction.onabort = () => failed(transaction.error);
      step(transaction.objectStore("kept"), then);
    });
  } catch { // what was drawn is forgotten here, and nobody has seen it
    throw reason === undefined || reason instanceof DOMException ? new Refusal("storage") : reason;
  } finally {
    database?.close();
  }
}

/** The row that is kept; null where nothing is. */
function rowOf(found) {
  if (found === undefined) return null;
  if (found.instructions !== inOrder(instructions)) throw new Refusal("changed");
  return found.row;
}

/** The row that this device drew, in whichever tab; null where it has not. */
function kept() {
  return within("readonly", (store, then) => then(store.get(place), rowOf));
}

/** Draw the report and keep it, where this device has not: in one transaction. */
function drawOnce(given) {
  return within("readwrite", (store, then) => then(store.get(place), (found) => {
    if (rowOf(found) !== null) return;
    const { row } = followInstructions(instructions, given, systemBytes, stated);
    store.put({ instructions: inOrder(instructions), row }, place);
  }));
}

/** Whether this browser lets pages keep anything. */
function checkStorage() {
  return within("readwrite", (store) => {
    store.put("1", `${place} tried`);
    store.delete(`${place} tried`);
  });
}

/** Whether the service waits for a report: asked before anything is drawn, and again before it is sent. */
async function checkAwaited() {
  let mine;
  try {
    const answer = await fetch("/api/v1/mine", { cache: "no-store", headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Refusal("unasked");
    mine = await answer.json();
  } catch {
    throw new Refusal("unasked");
  }
  if (mine.id !== typing.dataset.who || String(mine.campaign) !== typing.dataset.number) throw new Refusal("unasked");
  if (mine.handed_in) throw new Refusal("stored");
  if (mine.asks !== "record") throw new Refusal("unasked");
}

/**
 * Whether the instructions are about the form that is shown, in the unit of the level that the offer states. Otherwise
 * a question could be taken for something else: an answer that no report can have, or one that is read as what
 * privacy is worth to a participant, shows by whether a report leaves.
 */
function checkForm() {
  const fields = (name) => [...typing.elements].filter((each) => each.name === `field.${name}`);
  const choices = fields(instructions.input).flatMap((each) => each.type === "radio" ? [each.value]
    : each.options === undefined ? [] : [...each.options].map((option) => option.value).filter((text) => text !== ""));
  const local = instructions.law === "response";
  const worth = fields(instructions.levels?.worth ?? "");
  const offered = inOrder([...choices].sort()) === inOrder(local ? [...instructions.answers].sort() : []);
  const sameUnit = document.getElementById("stated").dataset.notion === (local ? "epsilon" : "rho");
  const written = [...worth, ...(local ? [] : fields(instructions.input))].every((each) => each.type === "text");
  if (!offered || !sameUnit || !written) throw new RangeError("instructions: they are not about this form");
}

/** A number as the server's pages write it: four digits that count. */
function short(value) {
  return Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });
}

/** A probability as so many of 100, as confide.people.device_odds writes it. */
function ofHundred(probability) {
  const rare = 100 * Math.min(probability, 1 - probability);
  if (rare === 0 || rare >= 0.5) return (100 * probability).toFixed(0);
  let digits = Math.min(6, Math.max(1, -Math.floor(Math.log10(rare))));
  if (Number(rare.toFixed(digits)) < 10 ** -digits) digits += 1;
  return (100 * probability).toFixed(digits);
}

/** How the operator reads a report on a lattice, which is no word that people read. */
function read(text) {
  const { low, high, steps } = instructions;
  const part = Number(BigInt.asIntN(64, BigInt(`0x${text}`))) / Number(steps);
  return short(Number(low) + part * (Number(high) - Number(low))) + typing.dataset.unit;
}

/** A text of the page, with what this device has computed in it; it is hidden where there is nothing to say. */
function say(id, values) {
  const place = document.getElementById(id);
  place.hidden = values === undefined;
  if (values !== undefined) place.textContent = place.dataset.said.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** What these instructions cost at most, as this device reads them: before anything is typed. */
function tell({ columns, stays, level, truth, deviation, threshold }) {
  const limit = short(LARGEST_LEVEL);
  say("terms-level", { level: short(level), limit });
  say("terms-truth", truth === undefined ? undefined : { truth: ofHundred(truth) });
  say("terms-noise", deviation === undefined ? undefined : { deviation: short(deviation) + typing.dataset.unit });
  say("terms-part", threshold === undefined ? undefined : {
    worth: instructions.levels.worth, threshold: short(threshold) + typing.dataset.unit });
  say("terms-stays", { stays: stays.join(", "), columns: columns.join(", ") });
  terms.hidden = false;
}

function typed() {
  const found = {};
  for (const [name, text] of new FormData(typing)) found[name.replace(/^field\./, "")] = String(text);
  return found;
}

/** What can leave with the values typed so far, each with its odds. */
function foresee() {
  let preview;
  try {
    preview = previewOf(instructions, typed(), stated);
  } catch (error) {
    if (!(error instanceof NotUsable)) throw error; // still typing
  }
  const odds = preview?.odds?.map(({ answer, probability }) => `${answer}: ${ofHundred(probability)}`).join("; ");
  say("terms-odds", odds === undefined ? undefined : { odds });
}

/** Into the form that is sent. */
function fill(row) {
  document.getElementById("row").replaceChildren(...Object.entries(row).map(([column, text]) => {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = `field.${column}`;
    field.value = text;
    return field;
  }));
}

function show(row, preview) {
  const shown = Object.values(row)[0];
  document.getElementById("leaves").textContent = shown === "" ? typing.dataset.nothing : shown;
  const reads = document.getElementById("reads");
  document.getElementById("once").hidden = shown === "";
  document.getElementById("nothing").hidden = shown !== "";
  reads.hidden = shown === "" || instructions.law !== "lattice";
  if (!reads.hidden) reads.querySelector("output").textContent = read(shown);
  const own = instructions.levels !== undefined && preview?.odds !== undefined;
  say("own", own ? { truth: ofHundred(Math.max(...preview.odds.map((each) => each.probability))) } : undefined);
  fill(row);
  showing = row;
  typing.hidden = true;
  sending.hidden = false;
  (shown === "" ? back : sending.querySelector("button:not([type])")).focus();
}

/** Back to the form: nothing was drawn, and nothing is kept. */
function goBack() {
  showing = null;
  fill({});
  sending.hidden = true;
  typing.hidden = false;
  typing.querySelector("input, select")?.focus();
}

/** What is wrong, in the page's language: the texts stand in the page. */
function said(error) {
  if (error instanceof Refusal) return problem.dataset[error.message];
  if (error instanceof LevelTooHigh) return problem.dataset.level.replace("{limit}", short(LARGEST_LEVEL));
  if (!(error instanceof NotUsable)) return problem.dataset.senseless;
  const name = error.message.slice(error.field.length + 2).replace(/\W+(\w)/g, (_, letter) => letter.toUpperCase());
  return typing.dataset[name] ?? error.message;
}

/** Say what is wrong, above the field that it is about; but for a value that can be typed otherwise, neither form is
 * there any more. */
function refuse(error) {
  const usable = error instanceof NotUsable;
  const field = usable ? document.getElementById(`field-${error.field.replaceAll(" ", "-")}`) : null;
  const place = field?.closest("fieldset, .field") ?? typing;
  const name = place === typing ? "" : `${place.querySelector("legend, label").firstChild.textContent.trim()}: `;
  place.before(problem);
  problem.textContent = name + said(error);
  problem.hidden = false;
  field?.focus({ preventScroll: true });
  problem.scrollIntoView({ block: "center" });
  if (!usable && error.message !== "unasked") { // which another time may be otherwise
    typing.hidden = true;
    sending.hidden = true;
  }
}

/** Run a step; whatever stops it is said. */
async function guarded(step) {
  problem.hidden = true;
  try {
    await step();
  } catch (error) {
    refuse(error);
  }
}

async function draw() {
  const given = typed();
  const preview = previewOf(instructions, given, stated);
  await checkStorage();
  await checkAwaited(); // with or without a report: nothing shows which before it is handed in
  if (preview.takesPart) await drawOnce(given);
  const row = await kept(); // perhaps another tab's
  if (row !== null) return show(row, preview);
  if (preview.takesPart) throw new Refusal("storage");
  show(followInstructions(instructions, given, systemBytes, stated).row, preview); // which is empty: nothing is drawn
}

async function send() {
  await checkAwaited();
  if (Object.values(showing)[0] !== "") {
    const row = await kept();
    if (row === null) throw new Refusal("gone");
    if (inOrder(row) !== inOrder(showing)) return show(row); // it is shown before it leaves
    fill(row);
  }
  sending.submit();
}

async function begin() {
  checkForm();
  tell(termsOf(instructions, stated));
  await checkStorage();
  const before = await kept();
  if (before !== null) return show(before);
  typing.hidden = false;
  foresee();
}

for (const [form, step] of [[typing, draw], [sending, send]]) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    guarded(step);
  });
}
typing.addEventListener("input", foresee);
back.addEventListener("click", goBack);
document.getElementById("no-device").hidden = true;
guarded(begin);
