import { Composer, isAlias, isMap, isScalar, isSeq, Parser } from "yaml";
import type { CST, Document, ParsedNode, YAMLMap } from "yaml";
import type { Finding } from "./finding.ts";
import type { LineIndex } from "./line-index.ts";
import { printable } from "./quote.ts";
import {
  duplicateProperty,
  MAX_DEPTH,
  MAX_VALUES,
  pointerTo,
  stopAtFault,
  SourceFault,
  tooDeep,
  tooManyValues,
} from "./source.ts";
import type { Member, Source, SourceNode } from "./source.ts";

/**
 * Reads one YAML 1.2 document that says no more than JSON can: no aliases, no tags of its own,
 * every property name a plain scalar. Everything else as `readJson`.
 */
export function readYaml(text: string, lines: LineIndex): Source {
  return stopAtFault(lines, () => {
    const findings: Finding[] = [];
    const root = convert(parse(text), { pointer: "", count: { values: 0 }, findings, lines });
    return { root, findings };
  });
}

function parse(text: string): ParsedNode {
  const tokens = [...new Parser().parse(text)];
  // The composer recurses, so the depth is checked on the tokens first.
  checkDepth(tokens);
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, schema: "core" });
  const [document, second] = [...composer.compose(tokens, true, text.length)];
  if (document === undefined) throw malformed(0, "the file is empty; write a YAML document in it");
  refuseFaults(document);
  if (second !== undefined) {
    throw malformed(second.range[0], "a file holds one document; remove this one");
  }
  if (document.contents === null)
    throw malformed(0, "the file is empty; write a YAML document in it");
  return document.contents;
}

function refuseFaults(document: Document.Parsed): void {
  const fault = document.errors[0] ?? document.warnings[0];
  if (fault !== undefined) {
    throw malformed(fault.pos[0], `this is not YAML that can be read: ${printable(fault.message)}`);
  }
}

function checkDepth(tokens: readonly CST.Token[]): void {
  let level = tokens
    .filter((token) => token.type === "document")
    .flatMap(({ value }) => value ?? []);
  for (let depth = 0; level.length > 0; depth += 1) {
    const containers = level.filter((token) => "items" in token);
    const first = containers[0];
    if (depth === MAX_DEPTH && first !== undefined) throw tooDeep(first.offset);
    level = containers.flatMap(parts);
  }
}

function parts(token: CST.Token): CST.Token[] {
  if (!("items" in token)) return [];
  return token.items.flatMap(({ key, value }) => [key ?? [], value ?? []].flat());
}

interface Place {
  readonly pointer: string;
  readonly count: { values: number };
  readonly findings: Finding[];
  readonly lines: LineIndex;
}

function convert(node: ParsedNode, place: Place): SourceNode {
  const start = node.range[0];
  place.count.values += 1;
  if (place.count.values > MAX_VALUES) throw tooManyValues(start);
  if (isAlias(node)) throw malformed(start, "aliases are not taken here; write the value out");
  if (isMap(node)) return { kind: "object", start, members: members(node, place) };
  if (isSeq(node)) {
    const item = (value: ParsedNode, index: number): SourceNode =>
      convert(value, { ...place, pointer: pointerTo(place.pointer, index) });
    return { kind: "array", start, items: node.items.map(item) };
  }
  return { kind: "scalar", start, value: scalarValue(node.value, start) };
}

function scalarValue(value: unknown, start: number): string | number | boolean | null {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return value;
  throw malformed(start, "only strings, numbers, true, false and null are taken here");
}

function members(map: YAMLMap.Parsed, place: Place): Map<string, Member> {
  const found = new Map<string, Member>();
  for (const { key, value } of map.items) {
    const keyStart = key.range[0];
    if (!isScalar(key)) throw malformed(keyStart, "a property name must be a plain word here");
    const name = String(key.value);
    const first = found.get(name);
    if (first !== undefined) {
      const at = { name, parent: place.pointer, offset: keyStart, firstOffset: first.keyStart };
      place.findings.push(duplicateProperty(place.lines, at));
    }
    const inner = { ...place, pointer: pointerTo(place.pointer, name) };
    const node: SourceNode =
      value === null ? { kind: "scalar", start: keyStart, value: null } : convert(value, inner);
    found.set(name, { keyStart, value: node });
  }
  return found;
}

function malformed(offset: number, message: string): SourceFault {
  return new SourceFault("malformed_yaml", offset, message);
}
