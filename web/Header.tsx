import type { JSX } from "preact";

import { logOut, whoami } from "./api.ts";
import { connectionProblem } from "./parts/ConnectionNotice.tsx";
import { sentenceOf } from "./parts/sentence-of.ts";
import { Button } from "./parts/Button.tsx";
import { Icon } from "./parts/icons.tsx";
import { Link } from "./parts/Link.tsx";
import { chooseTheme, nextTheme } from "./parts/theme.ts";
import { go, route } from "./route.ts";

const PAGES = [
  { to: "/", page: "list", label: "Sessions" },
  { to: "/plans", page: "plans", label: "Plans" },
  { to: "/service", page: "service", label: "Service" },
] as const;

/** The name, the ways to the other pages, the theme and the login. A visitor of a link sees no other pages. */
export function Header(): JSX.Element {
  const isVisit = route.value.page === "shared" || whoami.value?.role === "visitor";
  return (
    <header class="top">
      <span class="brand">Reprise</span>
      {isVisit ? null : (
        <nav aria-label="Pages">
          {PAGES.map(({ to, page, label }) => (
            <Link key={to} to={to} aria-current={route.value.page === page ? "page" : undefined}>
              {label}
            </Link>
          ))}
        </nav>
      )}
      <span class="space" />
      <ThemeSwitch />
      <LoginState />
    </header>
  );
}

function ThemeSwitch(): JSX.Element {
  const next = nextTheme();
  return (
    <Button
      kind="quiet"
      aria-label={next === "auto" ? "Use the theme of the system" : `Use the ${next} theme`}
      onClick={() => chooseTheme(next)}
    >
      <Icon name={next} />
    </Button>
  );
}

function LoginState(): JSX.Element | null {
  const who = whoami.value;
  if (who === null || who.role === "visitor") {
    return null;
  }
  return who.role === "guest" ? (
    <Link to="/login" class="top-login">
      Log in
    </Link>
  ) : (
    <Button kind="quiet" onClick={() => void leave()}>
      Log out
    </Button>
  );
}

async function leave(): Promise<void> {
  try {
    await logOut();
    go("/login");
  } catch (error) {
    connectionProblem.value = sentenceOf(error);
  }
}
