import type { JSX } from "preact";

import { callVerb } from "../../src/core/text/words.ts";
import { CallMark } from "./calls/CallMark.tsx";
import { Printed } from "./calls/Printed.tsx";
import { subjectOf } from "./call-text.ts";
import { LiveState } from "./LiveState.tsx";
import type { LiveCall, SessionModel } from "./model.ts";

/** After the last message and the answer that arrives: calls whose message is not stored yet, and what happens else. */
export function LiveTail({ model }: { readonly model: SessionModel }): JSX.Element {
  const { calls = [] } = model.live.value ?? {};
  // a message that is read may have them
  void model.version.value;
  const early = calls.filter(
    ({ status, call_id }) => status === "running" && !isStored(model, call_id),
  );
  return (
    <article aria-label="What happens now">
      {early.length === 0 ? null : (
        <ul class="calls" aria-label="Tool calls that run">
          {early.map((call) => (
            <li key={call.call_id} class="folded">
              <EarlyCall call={call} />
              <Printed model={model} call={call.call_id} />
            </li>
          ))}
        </ul>
      )}
      <LiveState model={model} />
    </article>
  );
}

/** True if the last answer, which is a message already, has the call. */
function isStored({ messages, last }: SessionModel, id: string): boolean {
  for (let seq = last.value; seq > last.value - 100; seq -= 1) {
    const message = messages.get(seq);
    if (message === undefined || message.role === "assistant") {
      return message?.tool_calls?.some((call) => call.id === id) ?? false;
    }
  }
  return false;
}

function EarlyCall({ call }: { readonly call: LiveCall }): JSX.Element {
  return (
    <span class="call-line running">
      <CallMark effect={call.effect} />
      <span class="call-verb">
        <bdi>{callVerb(call.name, "running")}</bdi>
      </span>
      <code class="call-subject" dir="auto">
        {call.args === null ? (call.subject ?? "") : subjectOf(call)}
      </code>
    </span>
  );
}
