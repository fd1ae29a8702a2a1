import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useId } from "preact/hooks";

import type { ModelInfo } from "../../../src/entries/client.ts";
import { modelLabel } from "../../parts/model-label.ts";

/** Models that answer in the place of one that cannot; null for those of the persona or the config. */
export type FallbackList = readonly string[] | null;

/** As many as the service takes. */
const MAX_MODELS = 5;

const KINDS = {
  default: "As the persona or the config says",
  none: "The exchange fails",
  these: "These models, in this order",
} as const;
type Kind = keyof typeof KINDS;

interface FallbackFieldProps {
  /** The list that the session has. */
  readonly given: FallbackList;
  /** Chosen models, with empty names that do not count; undefined for no change. */
  readonly chosen: Signal<FallbackList | undefined>;
  /** Models that can be named. */
  readonly models: readonly ModelInfo[];
}

/** The models that answer if the provider of the session's model cannot. An empty field takes one more. */
export function FallbackField({ given, chosen, models }: FallbackFieldProps): JSX.Element {
  const known = useId();
  const list = chosen.value === undefined ? given : chosen.value;
  const kind: Kind = list === null ? "default" : list.length === 0 ? "none" : "these";
  const names = list?.at(-1) === "" ? list : [...(list ?? []), ""];
  const choose = (next: Kind): void => {
    chosen.value = next === "default" ? null : next === "none" ? [] : [""];
  };
  return (
    <>
      <label class="field">
        <span>If the provider cannot answer</span>
        <select value={kind} onChange={({ currentTarget: { value } }) => choose(value as Kind)}>
          {Object.entries(KINDS).map(([each, label]) => (
            <option key={each} value={each}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {kind === "these" ? (
        <>
          <datalist id={known}>
            {models.map((each) => (
              <option key={each.name} value={each.name}>
                {modelLabel(each)}
              </option>
            ))}
          </datalist>
          <ol class="fallback">
            {names.slice(0, MAX_MODELS).map((name, at) => (
              <li key={at}>
                <input
                  value={name}
                  list={known}
                  spellcheck={false}
                  autocomplete="off"
                  aria-label={`Model ${at + 1} in its place`}
                  placeholder={name === "" ? "provider:model" : undefined}
                  onInput={({ currentTarget: { value } }) => {
                    chosen.value = names.with(at, value.trim());
                  }}
                />
              </li>
            ))}
          </ol>
          <p class="muted">The conversation goes to each of them that is asked.</p>
        </>
      ) : null}
    </>
  );
}
