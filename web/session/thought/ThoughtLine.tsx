import type { JSX } from "preact";

import { secondsText } from "../call-text.ts";
import { Folded } from "../Folded.tsx";
import type { SessionModel } from "../model.ts";
import type { Thought } from "../../streams/thoughts.ts";
import { PlainText } from "../PlainText.tsx";

interface ThoughtLineProps {
  readonly model: SessionModel;
  /** Of the answer. */
  readonly id: string;
}

/** How long the model thought of an answer; what it thought is opened on demand. */
export function ThoughtLine({ model, id }: ThoughtLineProps): JSX.Element | null {
  const thought = model.thoughts.get(id);
  if (thought === undefined) {
    return null;
  }
  const { text } = thought;
  const title = titleOf(thought);
  return text === "" ? (
    <p class="muted thought">{title}</p>
  ) : (
    <Folded model={model} id={`thought ${id}`} title={<span class="muted">{title}</span>}>
      <PlainText text={text} />
    </Folded>
  );
}

function titleOf({ ms, source, isHidden }: Thought): string {
  if (source === "read") {
    return isHidden ? "Thought (hidden by the provider)" : "Thought";
  }
  return ms === null ? "Thinking…" : `Thought for ${secondsText(ms)}`;
}
