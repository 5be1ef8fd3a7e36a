import { Stack, Text, UnstyledButton } from '@mantine/core'
import type { Column } from '../../list/data-list.tsx'
import { Link } from '../../page/link.tsx'
import { type PageAddress, pages } from '../../page/pages.ts'
import { Time } from '../../page/time.tsx'
import classes from './audit-log.module.css'
import { type AuditEntry, describeAction, detailLines, nameOf, PRINCIPAL_NAMES } from './audit-vocabulary.ts'

/** The pages of objects by their type. */
const PAGES: Record<string, (org: string, id: string) => PageAddress> = {
  deployment: pages.deployment,
  policy: pages.policy,
  gate: pages.gate,
  issue: pages.issue,
  finding: pages.finding,
  security_upload: pages.upload,
}

type Narrow = (filter: { principal_id: string }) => void

export function auditColumns(org: string, narrow: Narrow): Column<AuditEntry>[] {
  return [
    { key: 'at', header: 'When', width: '7.5rem', cell: ({ at }) => <Time at={at} /> },
    {
      key: 'who',
      header: 'Who',
      width: 'minmax(0, 1.2fr)',
      cell: (entry) => <Principal entry={entry} narrow={narrow} />,
    },
    { key: 'what', header: 'What', width: 'minmax(0, 2fr)', cell: (entry) => <Change entry={entry} /> },
    {
      key: 'object',
      header: 'Object',
      width: 'minmax(0, 1.5fr)',
      from: 'xs',
      cell: (entry) => <ObjectLink org={org} entry={entry} />,
    },
  ]
}

function Principal({ entry: { principal }, narrow }: { entry: AuditEntry; narrow: Narrow }) {
  const { id, name, type } = principal
  return (
    <Stack gap={0} align="flex-start">
      {id === null ? (
        <Text size="sm" lineClamp={1}>
          {name}
        </Text>
      ) : (
        <UnstyledButton
          className={classes.principal}
          onClick={() => narrow({ principal_id: id })}
          title={`Show only the changes of ${name}`}
        >
          {name}
        </UnstyledButton>
      )}
      {name.toLowerCase() !== PRINCIPAL_NAMES[type].toLowerCase() && (
        <Text size="xs" c="dimmed">
          {PRINCIPAL_NAMES[type]}
        </Text>
      )}
    </Stack>
  )
}

function Change({ entry: { action, reason, details } }: { entry: AuditEntry }) {
  const lines = detailLines(details)
  return (
    <Stack gap={2}>
      <Text size="sm" fw={500}>
        {describeAction(action)}
      </Text>
      {reason !== null && (
        <Text size="sm" lineClamp={3}>
          “{reason}”
        </Text>
      )}
      {lines.length > 0 && (
        <details>
          <summary className={classes.summary}>Details</summary>
          <dl className={classes.details}>
            {lines.map(({ label, value }) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </Stack>
  )
}

/** What an entry is about, with a link where it has a page. */
function ObjectLink({ org, entry: { object, details } }: { org: string; entry: AuditEntry }) {
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
