import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import type { SessionSummary, ShareInfo } from "../../../src/entries/client.ts";
import { client } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/CopyButton.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Time } from "../../parts/Time.tsx";
import { useCall } from "../../parts/use-call.tsx";
import { hrefOf } from "../../route.ts";

interface ShareProps {
  readonly session: SessionSummary;
  readonly onClose: () => void;
}

const DEFAULT_DAYS = 7;
const MAX_DAYS = 365;

/** Links with which others read this session: makes one, lists those that are valid, ends them. */
export function Share({ session, onClose }: ShareProps): JSX.Element {
  const days = useSignal(DEFAULT_DAYS);
  const shares = useSignal<readonly ShareInfo[]>([]);
  /** The address of a link that was just made: it is shown only now. */
  const made = useSignal<string | null>(null);
  const { problem, isBusy, run, fail } = useCall();
  const read = async (): Promise<void> => {
    shares.value = await client.listShares(session.id);
  };
  useEffect(() => {
    read().catch(fail);
  }, []);
  const make = (): void =>
    run(async () => {
      const { path } = await client.createShare(session.id, { expires_in_days: days.value });
      made.value = `${location.origin}${hrefWithin(path)}`;
      await read();
    });
  return (
    <Dialog title="Links to read this session" onClose={onClose}>
      {problem}
      <p>
        Who has a link reads the messages of this session, also new ones, and nothing else of the
        service: no folder, no questions, no other session. Messages can name files and hold what
        tools have read.
      </p>
      <form
        class="share-new"
        onSubmit={(event) => {
          event.preventDefault();
          make();
        }}
      >
        <label>
          Valid for{" "}
          <input
            type="number"
            min={1}
            max={MAX_DAYS}
            required
            value={days.value}
            onInput={({ currentTarget: { valueAsNumber } }) => void (days.value = valueAsNumber)}
          />{" "}
          days
        </label>
        <Button kind="primary" type="submit" disabled={isBusy}>
          Make a link
        </Button>
      </form>
      {made.value === null ? null : (
        <output class="share-made">
          <code>{made.value}</code>
          <CopyButton text={made.value} label="Copy the link" />
          <span class="muted">It is not shown again.</span>
        </output>
      )}
      {shares.value.length === 0 ? (
        <p class="muted">No link is valid now.</p>
      ) : (
        <ul class="shares">
          {shares.value.map(({ id, expires_at, last_used_at }) => (
            <li key={id}>
              <span>
                Valid until <Time at={expires_at} />
                {last_used_at === null ? (
                  ", not opened yet"
                ) : (
                  <>
                    , last opened <Time at={last_used_at} />
                  </>
                )}
              </span>
              <Button
                disabled={isBusy}
                onClick={() =>
                  run(async () => {
                    await client.revokeShare(session.id, id);
                    await read();
                  })
                }
              >
                End this link
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

/** The service puts its public path in front; where it knows none, the page does. */
function hrefWithin(path: string): string {
  const own = hrefOf("/");
  return path.startsWith(own) ? path : hrefOf(path);
}
