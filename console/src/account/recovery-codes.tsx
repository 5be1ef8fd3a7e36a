import { Button, CopyButton, Group, Modal, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconCopy, IconDownload } from '@tabler/icons-react'

type RecoveryCodesProps = { codes: string[] | null; onClose: () => void }

/** Recovery codes, which are shown once. */
export function RecoveryCodes({ codes, onClose }: RecoveryCodesProps) {
  const text = codes?.join('\n') ?? ''
  return (
    <Modal
      opened={codes !== null}
      onClose={onClose}
      title="Save your recovery codes"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        <Text size="sm">
          Each code signs you in once if you lose your authenticator app. They are not shown again, and earlier codes no
          longer work.
        </Text>
        <SimpleGrid
          cols={2}
          spacing={6}
          component="ul"
          p="sm"
          m={0}
          style={{ listStyle: 'none' }}
          bg="var(--shiplock-surface)"
        >
          {codes?.map((code) => (
            <Text key={code} component="li" ff="monospace" size="sm" ta="center">
              {code}
            </Text>
          ))}
        </SimpleGrid>
        <Group gap="xs">
          <CopyButton value={text}>
            {({ copied, copy }) => (
              <Button variant="default" leftSection={<IconCopy size={16} aria-hidden />} onClick={copy}>
                {copied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </CopyButton>
          <Button
            component="a"
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
            href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`}
            download="shiplock-recovery-codes.txt"
          >
            Download
          </Button>
          <Button ml="auto" onClick={onClose}>
            I have saved them
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
