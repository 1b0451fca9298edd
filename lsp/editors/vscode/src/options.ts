// What the client is told, apart from the editor: so that the tests can use it without one.

/** The documents that are autofork's; the server passes over all others too. */
export const documents = [
  { scheme: "file", pattern: "**/.autofork/forks/**/*.md" },
  { scheme: "file", pattern: "**/.autofork/config.toml" },
];

/** The command that starts the server. A setting that is not an absolute path could name a file of the workspace. */
export function command(setting: string | undefined): { command: string; args: string[] } {
  const chosen = setting?.trim() ?? "";
  return { command: chosen.startsWith("/") ? chosen : "autofork-lsp", args: ["--stdio"] };
}
