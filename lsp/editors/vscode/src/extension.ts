// The extension: starts the language server and gets out of the way.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { command, documents } from "./options.js";

let client: LanguageClient | undefined;

function start(): Promise<void> {
  const setting = vscode.workspace.getConfiguration("autofork").get<string>("server");
  client = new LanguageClient("autofork", "autofork", command(setting), { documentSelector: documents });
  return client.start();
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("autofork.restart", async () => {
      await client?.stop();
      await start();
    }),
  );
  try {
    await start();
  } catch (error) {
    void vscode.window.showWarningMessage(
      `autofork's language server did not start: ${String(error)}. Install autofork-lsp, or set autofork.server.`,
    );
  }
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
