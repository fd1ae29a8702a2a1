import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import type { AccessInfo } from "../../src/entries/client.ts";
import { client, readWhoami } from "../api.ts";
import { Button } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { Link } from "../parts/Link.tsx";
import { Notice } from "../parts/Notice.tsx";
import { sentenceOf } from "../parts/sentence-of.ts";
import { Time } from "../parts/Time.tsx";
import { access, readAccess } from "./watch.ts";

const KINDS: Readonly<Record<AccessInfo["kind"], string>> = {
  code: "Browser, by one-time code",
  token: "Browser, by the token",
  read_token: "Browser that only reads",
  share: "Browser, by a link",
  link: "Link to a session",
};

/** The browsers that are logged in and the links of sessions, for the owner; each can be ended. */
export function AccessList(): JSX.Element {
  const { value, problem } = access.value;
  const chosen = useSignal<AccessInfo | null>(null);
  return (
    <section aria-labelledby="service-access">
      <h2 id="service-access">Who has access</h2>
      {problem === null ? null : <Notice kind="warning">{problem}</Notice>}
      {value?.length === 0 ? (
        <p class="muted">No browser is logged in, and no session has a link.</p>
      ) : null}
      <ul class="rows">
        {(value ?? []).map((entry) => (
          <li key={entry.id} class="access">
            <Entry entry={entry} />
            <Button
              kind="danger"
              aria-label={`End: ${KINDS[entry.kind]}, made ${entry.created_at}`}
              onClick={() => (chosen.value = entry)}
            >
              End
            </Button>
          </li>
        ))}
      </ul>
      {chosen.value === null ? null : (
        <EndAccess entry={chosen.value} onClose={() => (chosen.value = null)} />
      )}
    </section>
  );
}

function Entry({ entry }: { readonly entry: AccessInfo }): JSX.Element {
  const { kind, created_at, last_used_at, expires_at, session_id } = entry;
  return (
    <div>
      <div>
        {KINDS[kind]}
        {session_id === null ? null : (
          <>
            {" "}
            <Link to={`/sessions/${session_id}`}>{session_id.slice(0, 8)}</Link>
          </>
        )}
      </div>
      <div class="muted">
        made <Time at={created_at} />
        {last_used_at === null ? (
          ", not used yet"
        ) : (
          <>
            , used <Time at={last_used_at} />
          </>
        )}
        , ends <Time at={expires_at} />
      </div>
    </div>
  );
}

function EndAccess(props: {
  readonly entry: AccessInfo;
  readonly onClose: () => void;
}): JSX.Element {
  const { entry, onClose } = props;
  const problem = useSignal<string | null>(null);
  const end = async (): Promise<void> => {
    try {
      await client.revokeAccess(entry.id);
      onClose();
      // it may have been this browser
      await readWhoami();
      await readAccess();
    } catch (error) {
      problem.value = sentenceOf(error);
    }
  };
  return (
    <Dialog title={entry.kind === "link" ? "End this link?" : "End this login?"} onClose={onClose}>
      <p>
        {entry.kind === "link"
          ? "All who have the link, or came by it, see nothing more. It cannot be taken back; you can make another link."
          : "That browser has to log in again. It may be this one."}
      </p>
      {problem.value === null ? null : <Notice kind="problem">{problem.value}</Notice>}
      <div class="actions">
        <Button onClick={onClose}>Keep it</Button>
        <Button kind="danger" onClick={() => void end()}>
          End it
        </Button>
      </div>
    </Dialog>
  );
}
