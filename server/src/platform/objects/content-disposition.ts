const FILENAME_CHARS_MAX = 200

/**
 * `Content-Disposition: attachment` with a name that no browser can take for a path, a header or a second parameter:
 * plain ASCII for old clients, the whole name in UTF-8 beside it (RFC 6266 §4.3, RFC 8187 §3.2).
 */
export function attachmentDisposition(filename: string): string {
  const name = safeFilename(filename)
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeExtendedValue(name)}`
}

function safeFilename(filename: string): string {
  const base = filename.toWellFormed().split(/[/\\]/).at(-1) ?? ''
  // Control characters, and the marks that turn the reading direction and so hide a file's real ending.
  const visible = base.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
  const name = [...visible]
    .slice(0, FILENAME_CHARS_MAX)
    .join('')
    .replace(/^[. ]+/, '')
    .trim()
  return name || 'download'
}

/** encodeURIComponent leaves `'`, `(`, `)` and `*` alone, which RFC 8187's attr-char does not allow. */
function encodeExtendedValue(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
