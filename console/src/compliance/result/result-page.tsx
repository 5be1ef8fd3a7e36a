import { Box, Code, Group, Paper, Stack, Text } from '@mantine/core'
import { IconClipboardCheck, IconClipboardOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../../api/session.ts'
import { StatusBadge } from '../../page/badges.tsx'
import { ButtonLink, Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { RepositoryLink, withoutHost } from '../../page/repository.tsx'
import { Empty, QueryView } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { policyQuery, resultQuery } from '../facts/queries.ts'
import type { ComplianceResult } from '../facts/vocabulary.ts'

const route = getRouteApi('/signed-in/orgs/$org/compliance/results')

/** The result of one policy for one repository: its rules with the evidence. */
export function ResultPage() {
  const { slug: org } = useOrganization()
  const { policy = '', repository = '' } = route.useSearch()
  const query = useQuery(resultQuery(org, policy, repository))
  const result = query.data?.data[0]
  return (
    <Page
      title={result ? `${result.policy_name} on ${repository}` : 'Compliance result'}
      breadcrumbs={
        <Link {...pages.results(org)} size="sm">
          Compliance
        </Link>
      }
      actions={result && <ResultActions org={org} result={result} />}
    >
      {policy === '' || repository === '' ? (
        <NoResult />
      ) : (
        <QueryView query={query} of="compliance result">
          {({ data: [found] }) => (found ? <Result org={org} result={found} /> : <NoResult />)}
        </QueryView>
      )}
    </Page>
  )
}

function ResultActions({ org, result }: { org: string; result: ComplianceResult }) {
  return (
    <>
      <ButtonLink {...pages.policy(org, result.policy_id)}>Open policy</ButtonLink>
      <ButtonLink {...pages.runs(org)} search={{ repository: withoutHost(result.repository) }}>
        Runs of the repository
      </ButtonLink>
    </>
  )
}

function Result({ org, result }: { org: string; result: ComplianceResult }) {
  const policy = useQuery(policyQuery(org, result.policy_id))
  const engine = policy.data?.data.current.definition?.engine
  const rules = engine?.type === 'cel' ? engine.rules : []
  return (
    <Stack gap="md">
      <Group gap="sm">
        <StatusBadge status={result.status} />
        <RepositoryLink name={result.repository} />
        <Text size="sm" c="dimmed">
          {result.evaluated_at === null ? (
            'Never evaluated'
          ) : (
            <>
              Evaluated <Time at={result.evaluated_at} />
            </>
          )}
        </Text>
      </Group>
      {result.details.length === 0 ? (
        <Empty icon={IconClipboardOff} title="Not evaluated">
          The repository has no run and no security report yet. Report a run or upload a report.
        </Empty>
      ) : (
        <Stack component="section" gap="sm" aria-label="Rules">
          {result.details.map((detail) => (
            <RuleResult key={detail.rule} detail={detail} rule={rules.find(({ rule }) => rule === detail.rule)} />
          ))}
        </Stack>
      )}
    </Stack>
  )
}

type RuleResultProps = {
  detail: ComplianceResult['details'][number]
  /** The rule as the current version of its policy states it. */
  rule: { name: string; expression: string; blocking: boolean } | undefined
}

function RuleResult({ detail, rule }: RuleResultProps) {
  return (
    <Paper p="md">
      <Stack gap="xs">
        <Group gap="sm">
          <StatusBadge status={detail.result} />
          <Text fw={500}>{rule?.name ?? detail.rule}</Text>
          <Text size="xs" c="dimmed">
            {detail.rule}
            {rule?.blocking === false && ' · only warns'}
          </Text>
        </Group>
        {detail.evidence !== null && (
          <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
            {detail.evidence}
          </Text>
        )}
        {rule && (
          <Box component="details">
            <Text component="summary" size="sm" c="dimmed" style={{ cursor: 'pointer' }}>
              Expression
            </Text>
            <Code block mt={6} style={{ whiteSpace: 'pre-wrap' }}>
              {rule.expression.trim()}
            </Code>
          </Box>
        )}
      </Stack>
    </Paper>
  )
}

function NoResult() {
  return (
    <Empty icon={IconClipboardCheck} title="No result">
      The policy does not cover this repository, or it was deleted.
    </Empty>
  )
}
