import type { Answer } from './answer.store.ts'

const WORDS = { approved: 'Approved', rejected: 'Rejected' }

/**
 * What a code host shows of an API key's answer: that it was a key, and why (specification, "Approve and reject rules"
 * 1). Markdown; what the caller wrote is quoted line by line, so that it stays the caller's.
 */
export function hostComment({ decision, principal_name, reason, comment }: Answer): string {
  const heading = `${WORDS[decision]} through Shiplock by the API key **${escapeMarkdown(principal_name)}**, not by a person.`
  return [heading, quote(reason), ...(comment === null ? [] : [quote(comment)])].join('\n\n')
}

function quote(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${line}`)
    .join('\n')
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#+.!|~@-]/g, '\\$&')
}
