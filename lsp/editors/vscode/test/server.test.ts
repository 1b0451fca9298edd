// The extension's settings against the real server, through the protocol, with the JSON-RPC library that the editor's
// client is made of. AUTOFORK_LSP names the binary.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import * as rpc from "vscode-jsonrpc/node.js";
import { command, documents } from "../src/options.js";

const home = mkdtempSync(join(tmpdir(), "autofork-vscode-"));
const project = join(home, "project");
const path = join(project, ".autofork", "forks", "tidy.md");
mkdirSync(join(project, ".autofork", "forks"), { recursive: true });
const faulty = "---\nfork: true\nthrotle: 1h\n---\nTidy.\n";
writeFileSync(path, faulty);
after(() => rmSync(home, { recursive: true }));

interface Diagnostic {
  code: string;
}

test("a setting that is no absolute path is not run", () => {
  assert.equal(command("./bin/autofork-lsp").command, "autofork-lsp");
  assert.equal(command(undefined).command, "autofork-lsp");
  assert.equal(command("/opt/autofork-lsp").command, "/opt/autofork-lsp");
});

test("only autofork's files are given to the server", () => {
  for (const document of documents) {
    assert.match(document.pattern, /\.autofork/);
  }
});

test("the server diagnoses a fork and offers the fix", { timeout: 60_000 }, async () => {
  const start = command(process.env["AUTOFORK_LSP"]);
  const server = spawn(start.command, start.args, { env: { HOME: home }, stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  const ended = new Promise<number | null>((resolve) => server.on("exit", resolve));
  // The diagnostics of a version of the document; those of no version are of the file on disk.
  const waiting = new Map<number | undefined, (found: Diagnostic[]) => void>();
  const found = (version?: number): Promise<Diagnostic[]> =>
    new Promise((resolve) => waiting.set(version, resolve));
  connection.onNotification(
    "textDocument/publishDiagnostics",
    (params: { version?: number; diagnostics: Diagnostic[] }) => waiting.get(params.version)?.(params.diagnostics),
  );
  connection.listen();

  const uri = pathToFileURL(path).href;
  const first = found();
  await connection.sendRequest("initialize", {
    processId: process.pid,
    rootUri: null,
    capabilities: { workspace: { workspaceEdit: { documentChanges: true } } },
    workspaceFolders: [{ uri: pathToFileURL(project).href, name: "project" }],
  });
  await connection.sendNotification("initialized", {});
  assert.deepEqual((await first).map((one) => one.code), ["unknown-key"]);

  const document = { uri, languageId: "markdown", version: 1, text: faulty };
  await connection.sendNotification("textDocument/didOpen", { textDocument: document });
  const place = { line: 2, character: 2 };
  const actions = await connection.sendRequest<{ edit: { documentChanges: { edits: { newText: string }[] }[] } }[]>(
    "textDocument/codeAction",
    { textDocument: { uri }, range: { start: place, end: place }, context: { diagnostics: [], only: ["quickfix"] } },
  );
  assert.equal(actions[0]?.edit.documentChanges[0]?.edits[0]?.newText, "throttle");

  const mended = found(2);
  await connection.sendNotification("textDocument/didChange", {
    textDocument: { uri, version: 2 },
    contentChanges: [{ text: faulty.replace("throtle", "throttle") }],
  });
  assert.deepEqual(await mended, []);
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  assert.equal(await ended, 0);
  connection.dispose();
});
