import { cachedShare, type Usage } from "../../core/cost/model-calls.ts";
import { shownCost } from "../../core/cost/money.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { plural } from "../../core/text/text.ts";
import type { TreeUsage } from "../../store/records/model-calls/read-usage.ts";

/** Figures that `/cost` shows: the exchange, the session, its tree, and each model. */
export function costLines(cost: TreeUsage | null): string[] {
  if (cost === null || cost.tree.calls === 0) {
    return ["No model has answered in this session."];
  }
  const { exchange, session, tree, models } = cost;
  const hasChildren = tree.calls > session.calls;
  return [
    ...(exchange === null ? [] : [`this exchange: ${usageText(exchange.tree)}`]),
    `this session: ${usageText(session)}`,
    ...(hasChildren ? [`with its sub-agents: ${usageText(tree)}`] : []),
    ...models.map(
      (share) => `${oneLine(share.model)}: ${priceText(share)}, ${plural(share.calls, "request")}`,
    ),
  ];
}

/** The cost and the requests without one, and how much of what was read came from the cache; empty if all is free. */
export function costText(usage: Usage): string {
  const prices = priceTexts(usage);
  return prices.length === 0 ? "" : [...prices, ...cachedTexts(usage)].join(", ");
}

/** Returns the known cost, and how many requests have no known price; empty if all is free. */
export function priceTexts(usage: Usage): string[] {
  const { cost_micros, unpriced } = usage;
  return [
    ...(cost_micros === null || cost_micros === 0 ? [] : [priceText(usage)]),
    ...(unpriced === 0 ? [] : [`${plural(unpriced, "request")} without a known price`]),
  ];
}

function usageText(usage: Usage): string {
  const { input, output } = usage;
  const read = input === null ? [] : [`${grouped(input)} tokens in${details(readTexts(usage))}`];
  const written = output === null ? [] : [`${grouped(output)} out${details(writtenTexts(usage))}`];
  return [priceText(usage), ...read, ...written].join(", ");
}

function priceText(usage: Usage): string {
  return shownCost(usage) ?? "price unknown";
}

function readTexts(usage: Usage): string[] {
  const { cache_read, cache_write_5m, cache_write_1h } = usage;
  const written = (cache_write_5m ?? 0) + (cache_write_1h ?? 0);
  const hour =
    cache_write_1h === null || cache_write_1h === 0
      ? ""
      : ` (${grouped(cache_write_1h)} for an hour)`;
  return [
    ...(cache_read === null || cache_read === 0
      ? []
      : [`${grouped(cache_read)} of them cached, ${percent(cachedShare(usage))}`]),
    ...(written === 0 ? [] : [`${grouped(written)} written to the cache${hour}`]),
  ];
}

function writtenTexts({ reasoning }: Usage): string[] {
  return reasoning === null || reasoning === 0 ? [] : [`${grouped(reasoning)} of them reasoning`];
}

function cachedTexts(usage: Usage): string[] {
  const share = cachedShare(usage);
  return share === null || share === 0 ? [] : [`${percent(share)} cached`];
}

function percent(share: number | null): string {
  return `${Math.round((share ?? 0) * 100)} %`;
}

function details(texts: readonly string[]): string {
  return texts.length === 0 ? "" : ` (${texts.join("; ")})`;
}

function grouped(count: number): string {
  return count.toLocaleString("en");
}
