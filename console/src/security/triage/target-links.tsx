import { Group, Text } from '@mantine/core'
import { Link } from '../../page/link.tsx'
import { formatCount } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import type { TriageRecord } from './triage-words.ts'

const SHOWN_MAX = 3
const PAGES = {
  issue: pages.issue,
  finding: pages.finding,
  alert: pages.alert,
} as const

/** Links to what a triage is about. Of many, to the first. */
export function TargetLinks({ triage: { target_type, target_ids }, org }: { triage: TriageRecord; org: string }) {
  const more = target_ids.length - SHOWN_MAX
  return (
    <Group gap="xs">
      {target_ids.slice(0, SHOWN_MAX).map((id) => (
        <Link key={id} {...PAGES[target_type](org, id)} size="xs">
          {target_type} {id.slice(-8)}
        </Link>
      ))}
      {more > 0 && (
        <Text size="xs" c="dimmed">
          and {formatCount(more)} more
        </Text>
      )}
    </Group>
  )
}
