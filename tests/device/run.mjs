// Runs the shipped program on cases from standard input, one JSON object a line, and writes what it gives.
import { createInterface } from "node:readline";

const noise = await import(process.argv[2]);
const CALLS = {
  uniform: noise.uniformBelow, bernoulli: noise.bernoulli, bernoulli_exp: noise.bernoulliExp,
  keep: noise.shiftWithKeep, level: noise.shiftAtLevel, laplace: noise.discreteLaplace,
  gaussian: noise.discreteGaussian,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { call, arguments: given, bytes, draws, instructions, typed, stated } = JSON.parse(line);
  const stream = Buffer.from(bytes, "hex");
  let at = 0;
  const source = (count) => {
    if (at + count > stream.length) throw new Error("no bytes are left");
    at += count;
    return new Uint8Array(stream.subarray(at - count, at));
  };
  const found = [];
  let problem = "";
  try {
    for (let k = 0; k < draws; k++) {
      found.push(call === "follow" ? noise.followInstructions(instructions, typed, source, stated)
        : call === "preview" ? noise.previewOf(instructions, typed, stated)
        : call === "terms" ? noise.termsOf(instructions, stated)
        : String(CALLS[call](...given.map(BigInt), source)));
    }
  } catch (error) {
    problem = `${error.name}: ${error.message}`;
  }
  console.log(JSON.stringify({ found, used: at, problem }));
}
