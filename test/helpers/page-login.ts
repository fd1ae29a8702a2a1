import type { Page } from "playwright-core";

/** The token of services whose pages log in. */
export const PAGE_TOKEN = "a-token";

/** Logs a page in by its form, as a person does. */
export async function logInBy(page: Page, token = PAGE_TOKEN): Promise<void> {
  await page.getByLabel("Token of the service").fill(token);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("button", { name: "Log out" }).waitFor();
}
