import { quote } from "../../core/text/terminal-text.ts";
import { MAX_FINDINGS, positioned, type Finding } from "../finding.ts";
import type { LineIndex } from "../line-index.ts";
import {
  MAX_SOURCE_DEPTH,
  pointerTo,
  SourceError,
  tooDeep,
  type Member,
  type SourceNode,
} from "./source.ts";

/** Bounds the tree that is made of a text, and finds the property names that an object has twice. */
export class SourceBuilder {
  /** A `duplicate_property` for each such name. */
  readonly findings: Finding[] = [];
  readonly #lines: LineIndex;
  readonly #maxValues: number;
  /** The steps of the JSON pointer to the value that is read. */
  readonly #path: (string | number)[] = [];
  #values = 0;

  constructor(lines: LineIndex, maxValues: number) {
    this.#lines = lines;
    this.#maxValues = maxValues;
  }

  /** Counts a value. Throws a SourceError if there are too many, or it is nested too deep. */
  count(start: number, { isNested }: { readonly isNested: boolean }): void {
    this.#values += 1;
    if (this.#values > this.#maxValues) {
      const message = `the text holds more than ${this.#maxValues.toLocaleString("en")} values; split it into smaller ones`;
      throw new SourceError("too_many_values", start, message);
    }
    if (isNested && this.#path.length === MAX_SOURCE_DEPTH) {
      throw tooDeep(start);
    }
  }

  /** Reads the value at one more step of the pointer. */
  inside(step: string | number, read: () => SourceNode): SourceNode {
    this.#path.push(step);
    const value = read();
    this.#path.pop();
    return value;
  }

  /** Reads a property's value and adds it; of a name that is given twice the last one counts. */
  addMember(
    members: Map<string, Member>,
    { name, keyStart }: { readonly name: string; readonly keyStart: number },
    read: () => SourceNode,
  ): void {
    const first = members.get(name);
    // 1 more than is listed, so that cutting them off is noticed
    if (first !== undefined && this.findings.length <= MAX_FINDINGS) {
      this.findings.push(this.#duplicate(name, { first: first.keyStart, offset: keyStart }));
    }
    members.set(name, { keyStart, value: this.inside(name, read) });
  }

  #duplicate(name: string, { first, offset }: { first: number; offset: number }): Finding {
    const first_line = this.#lines(first).line;
    const message = `the property ${quote(name)} is already on line ${first_line} of the same object; remove one`;
    const pointer = [...this.#path, name].reduce<string>(pointerTo, "");
    const finding = { code: "duplicate_property", severity: "error", pointer } as const;
    return positioned({ ...finding, offset, message, first_line }, this.#lines);
  }
}
