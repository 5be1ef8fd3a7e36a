import { formatColumns } from '../../src/commands/command.ts'
import type { Loss } from './checks/loss.ts'

export type CrashResult = {
  seed: number
  kills: number
  /** Starts after a kill that were not killed themselves, until the program was ready. */
  recoveries: { count: number; median_ms: number; max_ms: number }
  acknowledged: number
  checked: Record<string, number>
  changes: number
  links: number
  seconds: number
  losses: Loss[]
}

const LOSSES_SHOWN_MAX = 20

export function toText({ losses, ...result }: CrashResult): string {
  const { recoveries, checked } = result
  const rows = [
    ['kills', `${result.kills}`],
    ['writes acknowledged', `${result.acknowledged}`],
    ...Object.entries(checked).map(([kind, count]) => [`  ${kind}`, `${count}`]),
    ['changes merged at the code host', `${result.changes}`],
    ['links in hash chains', `${result.links}`],
    ['lost or inconsistent', `${losses.length}`],
    ['time to recover, median', seconds(recoveries.median_ms)],
    ['time to recover, maximum', seconds(recoveries.max_ms)],
    ['duration', `${result.seconds} s`],
    ['seed', `${result.seed}`],
  ]
  const shown = losses.slice(0, LOSSES_SHOWN_MAX).map((loss) => `LOST ${JSON.stringify(loss)}`)
  return [...formatColumns(rows), ...shown].join('\n')
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
