-- Run by a headless Neovim: opens a faulty fork, waits for its diagnostic, applies the fix, waits until it is clean.
-- Any failure ends Neovim with status 1 and a word on stderr.

local here = debug.getinfo(1, "S").source:sub(2):match("^(.*)/")
vim.g.autofork_lsp = { vim.env.AUTOFORK_LSP, "--stdio" }

local function check(condition, message)
  if not condition then
    io.stderr:write("failed: " .. message .. "\n")
    vim.cmd("cquit 1")
  end
end

local function found()
  return vim.tbl_map(function(one)
    return one.code or (one.user_data and one.user_data.lsp and one.user_data.lsp.code)
  end, vim.diagnostic.get(0))
end

dofile(here .. "/autofork.lua")

-- Another Markdown file is left alone.
vim.cmd("edit " .. vim.env.AUTOFORK_PROJECT .. "/README.md")
local attached = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = 0 }) or vim.lsp.buf_get_clients(0)
check(#attached == 0, "a README is none of the server's business")

vim.cmd("edit " .. vim.env.AUTOFORK_PROJECT .. "/.autofork/forks/tidy.md")
check(vim.wait(20000, function() return #found() == 1 end), "no diagnostic came")
check(found()[1] == "unknown-key", "the wrong diagnostic: " .. vim.inspect(found()))

local params = vim.lsp.util.make_range_params(0, "utf-16")
params.range = { start = { line = 2, character = 0 }, ["end"] = { line = 2, character = 4 } }
params.context = { diagnostics = {}, only = { "quickfix" } }
local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 20000)
local _, answer = next(answers or {})
check(answer and answer.result and answer.result[1], "no fix was offered")
vim.lsp.util.apply_workspace_edit(answer.result[1].edit, "utf-16")
check(vim.api.nvim_buf_get_lines(0, 2, 3, false)[1] == "throttle: 1h", "the fix was not made")
check(vim.wait(20000, function() return #found() == 0 end), "the squiggle stayed")

io.stdout:write("attached, diagnosed, mended\n")
vim.cmd("qall!")
