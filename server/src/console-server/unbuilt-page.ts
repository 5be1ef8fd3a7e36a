const SECONDS = 2

/**
 * The page in place of the console while it is not built. It loads itself again without a script,
 * and shows the console once that is there.
 */
export const UNBUILT_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="refresh" content="${SECONDS}">
    <title>The console is being built – Shiplock</title>
    <style nonce="__CSP_NONCE__">
      :root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif }
      body { max-width: 34rem; margin: 20vh auto; padding: 0 1.5rem }
      h1 { font-size: 1.5rem; line-height: 1.25 }
      code { padding: .1em .35em; border-radius: .3em; background: color-mix(in srgb, currentcolor 10%, transparent) }
    </style>
  </head>
  <body>
    <main>
      <h1>The console is being built</h1>
      <p>This takes up to a minute, once after an installation or an update. This page opens the console by itself.</p>
      <p>The API works already. If the console does not appear, the terminal of the server shows why, and
        <code>npm run build --workspace console</code> builds it again.</p>
    </main>
  </body>
</html>
`
