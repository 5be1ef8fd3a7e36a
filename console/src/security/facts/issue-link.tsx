import { Text } from '@mantine/core'
import { Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'

/** The issue that something belongs to, and why. */
export function IssueLink({ org, id, detail }: { org: string; id: string; detail: string | null }) {
  return (
    <>
      <Link {...pages.issue(org, id)} size="sm">
        Open issue
      </Link>
      {detail && (
        <Text size="xs" c="dimmed">
          {oneLine(detail, 200)}
        </Text>
      )}
    </>
  )
}
