import fc from "fast-check";

/** For each of its code points, `unit: "binary"` would keep a string in this process. */
const character = fc
  .nat({ max: 0x10f7ff })
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

/** Names that objects have without having been given them. */
const NAMES = ["__proto__", "constructor", "hasOwnProperty", "toString", "valueOf"];

/** Texts of any code points but half surrogates, and a few that code may mistake for its own. */
export function anyText({ minLength = 0, maxLength = 10 } = {}): fc.Arbitrary<string> {
  const names = NAMES.filter(({ length }) => length >= minLength && length <= maxLength);
  return fc.oneof(
    { weight: 20, arbitrary: fc.string({ unit: character, minLength, maxLength }) },
    ...(names.length === 0 ? [] : [{ weight: 1, arbitrary: fc.constantFrom(...names) }]),
  );
}
