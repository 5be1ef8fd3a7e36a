import { Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import { useOrganization } from '../../api/session.ts'
import { type Icon, nameTrust, type Tone, ToneBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { TextBlock } from '../../page/text-block.tsx'
import type { Decision } from '../answers/answer-options.ts'
import { type Deployment, type EvidencePage, evidencePages } from '../facts/deployment-state.ts'
import classes from './deployment.module.css'

type Rule = NonNullable<Decision['policies'][number]['rules']>[number]

const STATUSES: Record<Rule['status'], [label: string, tone: Tone, icon: Icon]> = {
  pass: ['Pass', 'success', IconCircleCheck],
  fail: ['Fail', 'failure', IconCircleX],
  warn: ['Warn', 'waiting', IconAlertTriangle],
  error: ['Error', 'failure', IconAlertTriangle],
}

type RuleResultProps = { rule: Rule; deployment: Deployment }

/** A rule with its result, why, what it was based on, and where to look further. */
export function RuleResult({ rule, deployment }: RuleResultProps) {
  const { name, status, blocking, reason, evidence, expression } = rule
  const [label, tone, icon] = STATUSES[status]
  const isBad = status !== 'pass'
  return (
    <Stack gap={6} className={classes.row}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <ToneBadge tone={tone} icon={icon} miw={68}>
          {label}
        </ToneBadge>
        <Text size="sm" fw={500}>
          {name}
          {!blocking && (
            <Text span size="xs" c="dimmed" fw={400}>
              {' '}
              only warns
            </Text>
          )}
        </Text>
      </Group>
      {isBad && reason && <Text size="sm">{reason}</Text>}
      <details open={isBad}>
        <summary className={classes.summary}>Evidence</summary>
        <Stack gap={8} mt={6}>
          {evidence && <Block title="What was found" text={evidence} />}
          {expression && <Block title="Expression" text={expression} />}
          {!evidence && !expression && (
            <Text size="xs" c="dimmed">
              The rule stated no evidence.
            </Text>
          )}
          <EvidenceLinks pages={evidencePages(expression)} deployment={deployment} />
        </Stack>
      </details>
    </Stack>
  )
}

type Asked = NonNullable<Decision['evidence']>[number]
type Piece = Asked['pieces'][number]

const SCOPES: Record<Asked['scope'], string> = {
  commit: 'Evidence of the commit',
  run: 'Evidence of the deploying run',
  attempt: 'Evidence of the attempt',
}

/** What the policies of one scope were asked with: each piece with its run, attempt and job. */
export function AskedEvidence({ asked: { scope, pieces, omitted, notes } }: { asked: Asked }) {
  return (
    <details>
      <summary className={classes.summary}>
        {SCOPES[scope]} ({pieces.length + omitted})
      </summary>
      <Stack gap={6} mt={6}>
        {pieces.length === 0 && (
          <Text size="xs" c="dimmed">
            No job has reported anything.
          </Text>
        )}
        {pieces.map((piece) => (
          <EvidencePiece key={`${piece.report_id} ${piece.kind} ${piece.name}`} piece={piece} />
        ))}
        {omitted > 0 && (
          <Text size="xs" c="dimmed">
            And {omitted} more.
          </Text>
        )}
        {notes.map((note) => (
          <Text key={note} size="xs">
            {note}
          </Text>
        ))}
      </Stack>
    </details>
  )
}

function EvidencePiece({ piece }: { piece: Piece }) {
  const { slug: org } = useOrganization()
  const { run_id, attempt, pipeline, job, kind, name, status, trust } = piece
  return (
    <Text size="xs">
      {kind} {name}: {status} ({nameTrust({ trust })}), job {job} in attempt {attempt} of{' '}
      <Link {...pages.run(org, run_id)} size="xs">
        {pipeline}
      </Link>
    </Text>
  )
}

function Block({ title, text }: { title: string; text: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <TextBlock label={title} text={text} />
    </div>
  )
}

function EvidenceLinks({ pages, deployment }: { pages: EvidencePage[]; deployment: Deployment }) {
  if (pages.length === 0) return null
  return (
    <Group gap="md">
      {pages.map((page) => (
        <EvidenceLink key={page} page={page} deployment={deployment} />
      ))}
    </Group>
  )
}

function EvidenceLink({ page, deployment }: { page: EvidencePage; deployment: Deployment }) {
  const { slug: org } = useOrganization()
  const { pipeline_run_id: id, repository_full_name: repository } = deployment
  if (page === 'run')
    return (
      id && (
        <Link {...pages.run(org, id)} size="xs">
          Run and its reports
        </Link>
      )
    )
  const [list, label] = LISTS[page]
  return (
    <Link {...list(org)} search={{ repository } as never} size="xs">
      {label} of {repository}
    </Link>
  )
}

const LISTS = {
  findings: [pages.findings, 'Findings'],
  issues: [pages.issues, 'Issues'],
  uploads: [pages.uploads, 'Uploads'],
  change: [pages.changes, 'Changes'],
} as const
