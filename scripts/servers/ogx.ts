// What OGX (Llama Stack's successor) reads: its inference, and the least of all else that its responses wire wants.

import { join } from 'node:path'
import type { Place } from './installed.ts'

export const ogxFiles = ({ folder, port, behind }: Place): Record<string, string> => ({
  // What it would fetch at its start.
  'serve.py': `import tiktoken
tiktoken.get_encoding = lambda name: tiktoken.Encoding(
    name, pat_str='.+', mergeable_ranks={bytes([one]): one for one in range(256)}, special_tokens={}
)
from ogx.cli.ogx import main
main()
`,
  'config.json': JSON.stringify({
    version: 2,
    distro_name: 'tiny',
    apis: ['inference', 'messages', 'responses', 'files', 'tool_runtime', 'vector_io'],
    providers: {
      inference: [
        {
          provider_id: 'llama',
          provider_type: 'remote::openai',
          config: { base_url: `${behind}/v1`, api_key: 'none' },
        },
      ],
      messages: [
        {
          provider_id: 'builtin',
          provider_type: 'inline::builtin',
          config: { kvstore: { namespace: 'message_batches', backend: 'kv_default' } },
        },
      ],
      responses: [
        {
          provider_id: 'builtin',
          provider_type: 'inline::builtin',
          config: { persistence: { responses: { table_name: 'responses', backend: 'sql_default' } } },
        },
      ],
      // Its responses wire wants them all.
      files: [
        {
          provider_id: 'files',
          provider_type: 'inline::localfs',
          config: { storage_dir: folder, metadata_store: { table_name: 'files', backend: 'sql_default' } },
        },
      ],
      vector_io: [
        {
          provider_id: 'vectors',
          provider_type: 'inline::sqlite-vec',
          config: { db_path: join(folder, 'vectors.db'), persistence: { namespace: 'v', backend: 'kv_default' } },
        },
      ],
      tool_runtime: [{ provider_id: 'search', provider_type: 'inline::file-search' }],
    },
    ...{ vector_stores: null, server: { port } },
    storage: {
      backends: {
        kv_default: { type: 'kv_sqlite', db_path: join(folder, 'kv.db') },
        sql_default: { type: 'sql_sqlite', db_path: join(folder, 'sql.db') },
      },
    },
  }),
})
