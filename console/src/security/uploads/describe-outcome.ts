import { formatCount } from '../../page/numbers.ts'
import type { SecurityUpload } from './upload-item.ts'

/** "12 findings: 3 new, 1 fixed, 2 new issues". */
export function describeOutcome({ counts }: SecurityUpload): string {
  const changes: [number, string][] = [
    [counts.created, 'new'],
    [counts.updated, 'changed'],
    [counts.resolved, 'fixed'],
    [counts.newIssues, counts.newIssues === 1 ? 'new issue' : 'new issues'],
  ]
  const shown = changes.filter(([count]) => count > 0).map(([count, name]) => `${formatCount(count)} ${name}`)
  const total = [
    countOf(counts.findings, 'finding'),
    ...(counts.components ? [countOf(counts.components, 'component')] : []),
  ]
  return `${total.join(', ')}${shown.length > 0 ? `: ${shown.join(', ')}` : ''}`
}

function countOf(count: number, name: string): string {
  return `${formatCount(count)} ${name}${count === 1 ? '' : 's'}`
}
