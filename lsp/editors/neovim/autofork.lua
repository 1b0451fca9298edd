-- Attaches autofork's language server to fork files and to autofork's configuration, and to nothing else.
-- Neovim 0.7 or later. Put this file into `plugin/` of your configuration, or `luafile` it.

local M = {}

-- What to start; set it before the file is loaded to start something else.
M.cmd = vim.g.autofork_lsp or { "autofork", "lsp" }

-- The folder whose `.autofork` a file lies in; nil for files that are not autofork's.
function M.root(path)
  local root = path:match("^(.*)/%.autofork/forks/.*%.md$") or path:match("^(.*)/%.autofork/config%.toml$")
  return root
end

local clients = {}

function M.attach(buffer)
  local root = M.root(vim.api.nvim_buf_get_name(buffer))
  if not root then
    return
  end
  local config = {
    name = "autofork",
    cmd = M.cmd,
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
  }
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buffer })
    return
  end
  -- Neovim 0.7 keeps no record of its own.
  if not clients[root] or vim.lsp.client_is_stopped(clients[root]) then
    clients[root] = vim.lsp.start_client(config)
  end
  vim.lsp.buf_attach_client(buffer, clients[root])
end

vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
  pattern = { "*.md", "config.toml" },
  callback = function(event)
    M.attach(event.buf)
  end,
})

return M
