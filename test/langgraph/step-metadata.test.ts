import { expect, it } from "vitest";

import { metadataText, parseMetadata } from "../../src/store/checkpoints/value.ts";

const SHORT = [
  '[{"source":"loop","step":12,"parents":{}}]',
  '[{"source":"input","step":-1,"parents":{}}]',
];

const OTHERS = [
  "[{}]",
  '[{"source":"loop","step":12,"parents":{"":"1f0"}}]',
  '[{"source":"loop","step":12,"parents":{},"user":"a"}]',
  '[{"step":12,"source":"loop","parents":{}}]',
  '[{"source":"loop 1","step":12,"parents":{}}]',
  '[{"source":"loop","step":1.5,"parents":{}}]',
  '[{"source":"loop","step":12,"parents":{}},[3]]',
  '{"c":[1,2]}',
];

it.each([...SHORT, ...OTHERS])(
  "a checkpoint has its metadata again that is stored as a short text or as it is: %s",
  (json) => {
    const text = metadataText(json);
    expect(parseMetadata(text)).toEqual(JSON.parse(json));
    expect(text.length < json.length).toBe(SHORT.includes(json));
  },
);
