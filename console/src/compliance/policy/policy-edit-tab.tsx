import { Alert, Button, Group, Text } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useOrganization } from '../../api/session.ts'
import { pages } from '../../page/pages.ts'
import { useDraft } from '../editor/policy-draft.ts'
import type { PolicyWithFile } from '../facts/vocabulary.ts'
import { PolicyEditor } from '../new-policy/policy-editor.tsx'

/** Edits the file of a policy of the organization. */
export default function PolicyEditTab({ policy }: { policy: PolicyWithFile }) {
  const { slug: org } = useOrganization()
  const navigate = useNavigate()
  const current = { version: policy.version, file: policy.current.file ?? '' }
  const draft = useDraft(`policy-draft ${org} ${policy.id}`, current)
  const isOutdated = policy.version > draft.base.version
  const { isChanged, discard } = draft
  // Nothing of the reader's is lost: the editor shows what is in force.
  useEffect(() => {
    if (isOutdated && !isChanged) discard(current)
  })
  return (
    <>
      {isChanged && (draft.isRestored || isOutdated) && (
        <Alert
          variant="light"
          icon={<IconInfoCircle />}
          mb="md"
          title={isOutdated ? 'The policy has been changed meanwhile' : 'Your draft is still here'}
        >
          <Group justify="space-between">
            <Text size="sm">
              {isOutdated
                ? `Your text was edited from version ${draft.base.version}. ${policy.changed_by?.name ?? 'Somebody'} has applied version ${policy.version} since.`
                : 'You edited this file earlier and did not apply it.'}
            </Text>
            <Button size="xs" variant="default" onClick={() => draft.discard(current)}>
              Discard draft
            </Button>
          </Group>
        </Alert>
      )}
      <PolicyEditor
        draft={draft}
        policy={{ id: policy.id, name: policy.name, isOfBefore: isOfBefore(policy.current.definition) }}
        onApplied={() => {
          void navigate({
            ...pages.policy(org, policy.id),
            search: { tab: 'file' },
            ignoreBlocker: true,
          })
        }}
      />
    </>
  )
}

/** Whether a version was stored before policies said what they look at, and rules what they accept. */
function isOfBefore(definition: PolicyWithFile['current']['definition']): boolean {
  if (definition === null) return false
  const { engine, scope } = definition
  if (scope === undefined) return true
  const terms = engine.type === 'cel' ? engine.rules : [engine]
  return terms.some(({ absent_evidence }) => absent_evidence === undefined)
}
