import type { ModelInfo } from "../../src/entries/client.ts";

/** A model with its context, its price for a million tokens and its end, as far as they are known. */
export function modelLabel(model: ModelInfo): string {
  const { name, context_tokens, is_assumed, input_price, output_price, images, ends } = model;
  const facts = [
    context_tokens === null || is_assumed ? null : `${context_tokens.toLocaleString("en")} tokens`,
    input_price === null || output_price === null || input_price + output_price === 0
      ? null
      : `${dollars(input_price)} in, ${dollars(output_price)} out`,
    images === false ? "no images" : null,
    ends === null ? null : `ends ${ends}`,
    model.is_usable ? null : "no key or address",
  ];
  return [name, ...facts.filter((fact) => fact !== null)].join(" \u00b7 ");
}

function dollars(micros: number): string {
  return `$${micros / 1_000_000}`;
}
