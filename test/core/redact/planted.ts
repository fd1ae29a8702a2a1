/** Makes secrets of 20 kinds from a seed. */
export function plantedSecrets(seed: number, perKind: number) {
  const random = generator(seed);
  const from = (letters: string, length: number): string =>
    Array.from({ length }, () => letters.charAt(Math.floor(random() * letters.length))).join("");
  const word = (length: number): string => from(ALNUM, length);
  const kinds: Readonly<Record<string, () => { readonly secret: string; readonly text: string }>> =
    {
      github: () => plain(`ghp_${word(36)}`),
      gitlab: () => plain(`glpat-${word(20)}`),
      aws: () => plain(`AKIA${from("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)}`),
      openai: () => plain(`sk-${word(20)}T3BlbkFJ${word(20)}`),
      anthropic: () => plain(`sk-ant-api03-${word(93)}AA`),
      slack: () => plain(`xoxb-${from(DIGITS, 12)}-${from(DIGITS, 12)}-${word(24)}`),
      stripe: () => plain(`sk_live_${word(24)}`),
      google: () => plain(`AIza${word(35)}`),
      npm: () => plain(`npm_${word(36).toLowerCase()}`),
      pypi: () => plain(`pypi-AgEIcHlwaS5vcmc${word(60)}`),
      sendgrid: () => plain(`SG.${word(22).toLowerCase()}.${word(43).toLowerCase()}`),
      digitalocean: () => plain(`dop_v1_${from(HEX, 64)}`),
      huggingface: () => plain(`hf_${from(LETTERS, 34)}`),
      jwt: () => plain(`eyJ${word(30)}.eyJ${word(60)}.${word(43)}`),
      private_key: () =>
        plain(
          `-----BEGIN RSA PRIVATE KEY-----\n${Array.from({ length: 6 }, () => word(64)).join("\n")}\n-----END RSA PRIVATE KEY-----`,
        ),
      address: () => within(`a1${word(14)}9`, (it) => `postgres://app:${it}@db.internal:5432/shop`),
      bearer: () => within(`${word(30)}4_`, (it) => `curl -H "Authorization: Bearer ${it}"`),
      assignment: () => within(`${word(16)}7x9`, (it) => `DB_PASSWORD=${it}`),
      email: () => plain(`${from(LETTERS, 8)}.${from(LETTERS, 5)}@${from(LETTERS, 7)}.org`),
      home: () => within(`/home/${from(LETTERS, 7)}`, (it) => `${it}/code/shop/src/main.ts`),
    };
  return Object.entries(kinds).flatMap(([kind, make]) =>
    Array.from({ length: perKind }, () => ({ kind, ...make() })),
  );
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const DIGITS = "0123456789";
const HEX = "0123456789abcdef";
const ALNUM = `${LETTERS}${LETTERS.toUpperCase()}${DIGITS}`;

function plain(secret: string) {
  return { secret, text: secret };
}

function within(secret: string, around: (secret: string) => string) {
  return { secret, text: around(secret) };
}

/** Mulberry32: the same numbers for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
