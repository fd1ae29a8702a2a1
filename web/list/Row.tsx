import type { JSX } from "preact";

import { Button } from "../parts/Button.tsx";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../parts/Link.tsx";
import { Time } from "../parts/Time.tsx";
import { stateOf } from "./filters.ts";
import { isPinned, type ListRow } from "./rows.ts";
import { shortCount, shortFolder, STATE_TEXTS, titleOf } from "./state-text.ts";

interface RowProps {
  readonly row: ListRow;
  /** What the link and the buttons of the row have in common. */
  readonly keys: {
    readonly tabIndex: 0 | -1;
    readonly onFocus: () => void;
    readonly onKeyDown: (event: KeyboardEvent) => void;
  };
  readonly onToggle: () => void;
  /** Shows what can be done with the session. */
  readonly onAct: () => void;
}

/** A session in the list. */
export function Row(props: RowProps): JSX.Element {
  const { row, keys } = props;
  const { session, level, children, isOpen } = row;
  const state = stateOf(session);
  const title = titleOf(session);
  const tokens = session.total_input_tokens + session.total_output_tokens;
  const { model, repo_path: folder, parent_session_id: parent } = session;
  return (
    <div class="session-row">
      <span class={`row-tree level-${Math.min(level, 4)}`}>
        {children === 0 ? null : (
          <Button
            {...keys}
            kind="quiet"
            aria-expanded={isOpen}
            aria-label={`${children} ${children === 1 ? "sub-agent" : "sub-agents"} of ${title}`}
            onClick={props.onToggle}
          >
            <Icon name={isOpen ? "open" : "closed"} />
            {children}
          </Button>
        )}
      </span>
      <Link {...keys} class="row-title" to={`/sessions/${session.id}`}>
        <bdi>{title}</bdi>
      </Link>
      <span class="row-state">
        {isPinned(session) ? <span class="mark">pinned</span> : null}
        {parent !== null && level === 1 ? <span class="mark">sub-agent</span> : null}
        {session.forked_from === null ? null : <span class="mark">fork</span>}
        {session.agent === "plan" ? <span class="mark">plan</span> : null}
        {typeof session.archived_at === "string" ? <span class="mark">archived</span> : null}
        <span class={`state ${state}`}>{STATE_TEXTS[state]}</span>
      </span>
      <span class="row-folder muted">
        {folder === null ? null : <bdi title={folder}>{shortFolder(folder)}</bdi>}
      </span>
      <span class="row-model muted">
        {model === null ? null : <bdi title={model}>{model}</bdi>}
      </span>
      <span class="row-tokens muted" title={`${tokens.toLocaleString("en")} tokens`}>
        {tokens === 0 ? null : `${shortCount(tokens)} tok`}
      </span>
      <span class="row-time muted">
        <Time at={session.last_message_at ?? session.created_at} />
      </span>
      <span class="row-menu">
        <Button
          {...keys}
          kind="quiet"
          aria-label={`Actions for ${title}`}
          aria-haspopup="dialog"
          onClick={props.onAct}
        >
          <Icon name="more" />
        </Button>
      </span>
    </div>
  );
}
