import { Text } from '@mantine/core'
import { Link } from '../../page/link.tsx'
import { type PageAddress, pages } from '../../page/pages.ts'
import { type AuditEntry, nameOf } from './audit-vocabulary.ts'

/** The pages of objects by their type. */
const PAGES: Record<string, (org: string, id: string) => PageAddress> = {
  deployment: pages.deployment,
  policy: pages.policy,
  gate: pages.gate,
  issue: pages.issue,
  finding: pages.finding,
  security_upload: pages.upload,
}

/** What an entry is about, with a link where it has a page. */
export function ObjectLink({ org, entry: { object, details } }: { org: string; entry: AuditEntry }) {
  const page = PAGES[object.type]
  const name = typeof details.name === 'string' ? details.name : object.id
  const text = `${nameOf(object.type)} ${name}`
  if (page === undefined)
    return (
      <Text size="sm" lineClamp={2}>
        {text}
      </Text>
    )
  return (
    <Link {...page(org, object.id)} size="sm" lineClamp={2}>
      {text}
    </Link>
  )
}
