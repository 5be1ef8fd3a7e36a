import { createHash } from 'node:crypto'

/** A page with the policy that allows exactly what it contains. */
export type Page = { html: string; contentSecurityPolicy: string }

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif }
body { max-width: 34rem; margin: 12vh auto; padding: 0 1.5rem }
h1 { font-size: 1.5rem; line-height: 1.25 }
code { padding: .1em .35em; border-radius: .3em; background: color-mix(in srgb, currentcolor 10%, transparent) }
pre { overflow-x: auto; padding: .8rem 1rem; border-radius: .5rem;
  background: color-mix(in srgb, currentcolor 8%, transparent) }
pre code { padding: 0; background: none }
button, a.button { display: inline-block; padding: .6rem 1.2rem; border: 0; border-radius: .5rem; font: inherit;
  font-weight: 600; color: #fff; background: #1f6feb; text-decoration: none; cursor: pointer }
button:focus-visible, a:focus-visible { outline: 3px solid #58a6ff; outline-offset: 2px }
`
const SUBMIT = 'document.forms[0].submit()'

/** Sends the browser to GitHub with the manifest: at once, or by the button without JavaScript. */
export function renderManifestPage({ action, manifest }: { action: string; manifest: string }): Page {
  const body = `
<h1>Create the GitHub App</h1>
<p>GitHub shows the name of the new App. You can change it there. Its permissions and its webhook address are filled in.</p>
<form action="${escapeHtml(action)}" method="post">
<input type="hidden" name="manifest" value="${escapeHtml(manifest)}">
<button type="submit">Continue to GitHub</button>
</form>
<script>${SUBMIT}</script>`
  return page('Create the GitHub App', body, `script-src ${hashSource(SUBMIT)}; form-action ${new URL(action).origin}`)
}

/** What to do after the App was created. */
export function renderCreatedPage({ slug, html_url }: { slug: string; html_url: string }): Page {
  const body = `
<h1>The GitHub App was created</h1>
<p>Its credentials are stored. The server uses them from now on.</p>
<ol>
<li><p>Install the App <code>${escapeHtml(slug)}</code> in the account whose repositories you want to connect.</p>
<p><a class="button" href="${escapeHtml(html_url)}/installations/new">Install the App</a></p></li>
<li><p>Find the new installation. It is shown as <code>waiting</code>.</p>
<pre><code>npx shiplock-server provider list</code></pre></li>
<li><p>Connect it to an organization of Shiplock.</p>
<pre><code>npx shiplock-server provider connect --org &lt;slug&gt; --provider github --installation &lt;id&gt;</code></pre></li>
</ol>`
  return page('The GitHub App was created', body, "form-action 'none'")
}

/** What to do after the App was installed without the console. */
export function renderInstalledPage(): Page {
  const body = `
<h1>The GitHub App is installed</h1>
<p>The installation waits to be connected to an organization of Shiplock. Its number is shown by the first command.</p>
<pre><code>npx shiplock-server provider list
npx shiplock-server provider connect --org &lt;slug&gt; --provider github --installation &lt;id&gt;</code></pre>`
  return page('The GitHub App is installed', body, "form-action 'none'")
}

/** Why a step failed. */
export function renderRefusedPage(message: string): Page {
  const body = `
<h1>The GitHub App was not created</h1>
<p>${escapeHtml(message)}</p>
<p>To get a new address, run:</p>
<pre><code>npx shiplock-server provider setup github</code></pre>`
  return page('The GitHub App was not created', body, "form-action 'none'")
}

function page(title: string, body: string, allowed: string): Page {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} – Shiplock</title>
<style>${STYLE}</style>
</head>
<body>${body}
</body>
</html>
`
  const policy = `default-src 'none'; style-src ${hashSource(STYLE)}; base-uri 'none'; frame-ancestors 'none'; ${allowed}`
  return { html, contentSecurityPolicy: policy }
}

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] as string)
}
