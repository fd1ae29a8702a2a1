import { useSignal } from "@preact/signals";
import type { JSX, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

import type { SessionSummary } from "../../../src/entries/client.ts";
import { client, isOwner } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { useCall } from "../../parts/use-call.tsx";
import type { SessionModel } from "../model.ts";
import { DeleteSession, EndSession, ExportSession, Settings, Share } from "./later.ts";

type Step = "settings" | "share" | "export" | "end" | "delete";

/** Actions on a whole session: its settings, a link to it, export, pin, archive, end, delete. */
export function SessionMenu({ model }: { readonly model: SessionModel }): JSX.Element | null {
  const menu = useRef<HTMLDetailsElement>(null);
  const step = useSignal<Step | null>(null);
  const session = model.session.value;
  const { problem, isBusy, run } = useCall();
  useClosing(menu, session !== null);
  if (session === null) {
    return null;
  }
  const closeMenu = (): void => {
    if (menu.current !== null) {
      menu.current.open = false;
      menu.current.querySelector("summary")?.focus();
    }
  };
  const choose = (next: Step): void => {
    closeMenu();
    step.value = next;
  };
  const isArchived = typeof session.archived_at === "string";
  const isPinned = typeof session.pinned_at === "string";
  const change = (to: Parameters<typeof client.patchSession>[1]): void => {
    closeMenu();
    run(async () => {
      await client.patchSession(session.id, to);
      await model.refresh();
    });
  };
  return (
    <>
      {problem}
      <details class="menu" ref={menu}>
        <summary class="button">Session</summary>
        <div class="menu-items">
          {isOwner.value ? (
            <>
              <Button kind="quiet" onClick={() => choose("settings")}>
                Name and settings …
              </Button>
              <Button kind="quiet" onClick={() => choose("share")}>
                Links to read it …
              </Button>
            </>
          ) : null}
          <Button kind="quiet" onClick={() => choose("export")}>
            Export …
          </Button>
          {isOwner.value ? (
            <>
              <Button kind="quiet" disabled={isBusy} onClick={() => change({ pinned: !isPinned })}>
                {isPinned ? "Unpin" : "Pin"}
              </Button>
              <Button
                kind="quiet"
                disabled={isBusy}
                onClick={() => change({ archived: !isArchived })}
              >
                {isArchived ? "Take out of the archive" : "Archive"}
              </Button>
              {session.state === "ended" ? null : (
                <Button kind="quiet" onClick={() => choose("end")}>
                  End …
                </Button>
              )}
              <Button kind="quiet" onClick={() => choose("delete")}>
                Delete …
              </Button>
            </>
          ) : null}
        </div>
      </details>
      <StepDialog
        model={model}
        session={session}
        step={step.value}
        onClose={() => void (step.value = null)}
      />
    </>
  );
}

interface StepProps {
  readonly model: SessionModel;
  readonly session: SessionSummary;
  readonly step: Step | null;
  readonly onClose: () => void;
}

function StepDialog({ step, ...props }: StepProps): JSX.Element | null {
  switch (step) {
    case "settings":
      return <Settings {...props} />;
    case "share":
      return <Share {...props} />;
    case "export":
      return <ExportSession {...props} />;
    case "end":
      return <EndSession {...props} />;
    case "delete":
      return <DeleteSession {...props} />;
    case null:
      return null;
  }
}

/** Closes a menu with Escape, and once the focus is elsewhere. */
function useClosing(menu: RefObject<HTMLDetailsElement | null>, isThere: boolean): void {
  useEffect(() => {
    const { current } = menu;
    const controller = new AbortController();
    const { signal } = controller;
    current?.addEventListener(
      "keydown",
      ({ key }) => {
        if (key === "Escape" && current.open) {
          current.open = false;
          current.querySelector("summary")?.focus();
        }
      },
      { signal },
    );
    document.addEventListener(
      "pointerdown",
      ({ target }) => {
        if (current !== null && target instanceof Node && !current.contains(target)) {
          current.open = false;
        }
      },
      { signal },
    );
    current?.addEventListener(
      "focusout",
      ({ relatedTarget }) => {
        if (relatedTarget instanceof Node && !current.contains(relatedTarget)) {
          current.open = false;
        }
      },
      { signal },
    );
    return () => controller.abort();
  }, [isThere]);
}
