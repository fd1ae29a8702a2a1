/** How long something took: `0.2 s`, `12 s`, `3 min 5 s`. */
export function took(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 10) {
    return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  }
  return inSeconds(ms);
}

/** How long something takes so far, in whole seconds: `0 s`, `12 s`, `3 min 5 s`. */
export function inSeconds(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A count with its thousands apart: `3,120`. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Tokens of an exchange. */
export function tokensText(tokens: {
  readonly input_tokens: number;
  readonly output_tokens: number;
}): string {
  return `${grouped(tokens.input_tokens)} tokens in, ${grouped(tokens.output_tokens)} out`;
}

const COUNTS = [
  { name: "G", size: 1e9 },
  { name: "M", size: 1e6 },
  { name: "k", size: 1e3 },
] as const;

/** `309`, `1.6k`, `20k`, `3.1M`: three digits at most. */
export function shortCount(count: number): string {
  // a count that would be rounded up to the next unit has that one
  const unit = COUNTS.find(({ size }) => count >= size * 0.9995);
  if (unit === undefined || count < 1000) {
    return String(count);
  }
  const value = count / unit.size;
  return `${value < 9.95 ? value.toFixed(1) : String(Math.round(value))}${unit.name}`;
}
