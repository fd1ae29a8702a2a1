import type { ModelInfo } from "../../core/schemas/service-schemas.ts";
import { endsSoon, hasEnded, shownDay } from "../../rules/models/retirement.ts";

/** Facts about a model for a person, the most important ones first; unknown ones are left out. */
export function modelFactTexts(info: ModelInfo, now: Date): string[] {
  const { context_tokens, is_assumed, images, ends } = info;
  return [
    context_tokens === null || is_assumed ? null : `${context_tokens.toLocaleString("en")} tokens`,
    priceText(info),
    images === false ? "no images" : null,
    ends === null ? null : endText(ends, now),
    info.is_default ? "the default" : null,
    info.is_usable ? null : "has no key or address",
  ].filter((text) => text !== null);
}

/** For a million tokens. */
export function priceText({ input_price, output_price }: ModelInfo): string | null {
  if (input_price === null || output_price === null) {
    return null;
  }
  return input_price === 0 && output_price === 0
    ? "free"
    : `${dollars(input_price)} in, ${dollars(output_price)} out`;
}

/** A day that is far away is only interesting in `--json`. */
function endText(ends: string, now: Date): string | null {
  if (!endsSoon(ends, now)) {
    return null;
  }
  return `${hasEnded(ends, now) ? "ended" : "ends"} ${shownDay(ends)}`;
}

function dollars(micros: number): string {
  const value = micros / 1_000_000;
  return `$${value < 0.1 ? String(value) : value.toFixed(2)}`;
}
