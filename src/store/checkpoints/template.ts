type Versions = Record<string, number | string>;

/**
 * Parts of a checkpoint that a graph repeats at nearly every step: versions by channel, what each node has seen of
 * them, and the values of channels that nothing was ever written to.
 */
export interface Repeated {
  readonly versions: {
    readonly v: number;
    readonly channel_versions: Versions;
    readonly versions_seen: Record<string, Versions>;
  };
  /** Encoded JSON by channel; no messages in it. */
  readonly untouched: Readonly<Record<string, unknown>>;
}

/** Repeated parts with a null for each version, and the versions. */
export interface Template {
  readonly shape: string;
  /** Numbers in order, with commas between. */
  readonly numbers: string;
}

/**
 * Takes the numbers out. What is left is kept once a thread: with six middlewares it is ten times
 * as long as the numbers.
 */
export function splitTemplate({ versions, untouched }: Repeated): Template {
  const { v, channel_versions, versions_seen } = versions;
  const numbers: number[] = [];
  // as a separate text, because a value may hold a null
  const values = JSON.stringify(untouched);
  const whole = { v, channel_versions, versions_seen, values };
  const shape = JSON.stringify(whole, function (this: unknown, _, value: unknown) {
    // the format's own version stays, a channel of this name has versions like any other
    if (this !== whole && typeof value === "number") {
      numbers.push(value);
      return null;
    }
    return value;
  });
  return { shape, numbers: numbers.join(",") };
}

/** Joins what `splitTemplate` took apart. Throws a RangeError if the two do not match. */
export function joinTemplate({ shape, numbers }: Template): Repeated {
  const all = numbers === "" ? [] : numbers.split(",");
  const left = all.values();
  const parsed: unknown = JSON.parse(shape, (_, value: unknown) =>
    value === null ? numberOf(left.next().value) : value,
  );
  if (!isShape(parsed) || left.next().done !== true) {
    throw misfit();
  }
  const { values, ...versions } = parsed;
  return { versions, untouched: JSON.parse(values) as Repeated["untouched"] };
}

type Parsed = Repeated["versions"] & { readonly values: string };

function isShape(value: unknown): value is Parsed {
  return (
    isRecord(value) &&
    typeof value["v"] === "number" &&
    typeof value["values"] === "string" &&
    isRecord(value["channel_versions"]) &&
    isRecord(value["versions_seen"]) &&
    // a further field may be of a newer version
    Object.keys(value).length === 4
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function numberOf(text: string | undefined): number {
  const number = text === undefined || text === "" ? NaN : Number(text);
  if (!Number.isFinite(number)) {
    throw misfit();
  }
  return number;
}

function misfit(): RangeError {
  return new RangeError("the versions of a checkpoint do not fit its shape");
}
