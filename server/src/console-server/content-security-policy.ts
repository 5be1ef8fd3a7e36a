/**
 * Allows what the console needs and nothing else: its own files, styles that carry the nonce of the
 * response (the component library adds `<style>` elements), and requests to this server and to the
 * store that receives uploads.
 */
export function buildContentSecurityPolicy(uploadOrigin: string, nonce: string | null): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === null ? '' : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self' ${uploadOrigin}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
