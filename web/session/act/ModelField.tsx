import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useId } from "preact/hooks";

import type { ModelInfo, SessionSummary } from "../../../src/entries/client.ts";
import { modelLabel } from "../../parts/model-label.ts";

/** Context of another model: the conversation so far, or an empty one. */
export type ModelContext = "keep" | "fresh";

interface ModelFieldProps {
  readonly session: SessionSummary;
  /** Models that can be named. */
  readonly models: readonly ModelInfo[];
  /** Text that is typed; empty for no change. */
  readonly chosen: Signal<string>;
  readonly context: Signal<ModelContext>;
  /** False if something else begins an empty context. */
  readonly canKeep: boolean;
}

/** The model of a session, and whether another one gets the conversation. */
export function ModelField(props: ModelFieldProps): JSX.Element {
  const { session, models, chosen, context, canKeep } = props;
  const known = useId();
  const name = chosen.value.trim();
  const found = models.find((each) => each.name === name);
  const isOther = name !== "" && name !== session.model && session.last_seq > 0;
  return (
    <>
      <label class="field">
        <span>Model</span>
        <input
          value={chosen.value}
          list={known}
          spellcheck={false}
          autocomplete="off"
          placeholder={session.model ?? "the default model"}
          onInput={({ currentTarget: { value } }) => void (chosen.value = value)}
        />
        <datalist id={known}>
          {models.map((each) => (
            <option key={each.name} value={each.name}>
              {modelLabel(each)}
            </option>
          ))}
        </datalist>
      </label>
      {found === undefined ? null : <p class="muted">{modelLabel(found)}</p>}
      {isOther && canKeep ? (
        <label class="field">
          <span>Conversation</span>
          <select
            value={context.value}
            onChange={({ currentTarget: { value } }) =>
              void (context.value = value as ModelContext)
            }
          >
            <option value="keep">The other model continues it</option>
            <option value="fresh">The other model sees none of it</option>
          </select>
        </label>
      ) : null}
      {isOther && canKeep && context.value === "keep" ? (
        <p class="muted">
          Its provider reads the conversation once more, because the prompt cache begins again.
        </p>
      ) : null}
    </>
  );
}
