import type { Command } from 'commander'

/** Flags of `assay serve` that say where users' exports may go. */
export function addExportOptions(command: Command): void {
  command
    .option(
      '--export-folders <folders>',
      'below which exports may be written, with commas between them (ASSAY_EXPORT_FOLDERS; default: none)',
    )
    .option(
      '--export-buckets <buckets>',
      'of S3 that exports may be written to, each with a folder or without: exports,shared/assay (ASSAY_EXPORT_BUCKETS; default: none)',
    )
    .option(
      '--s3-endpoint <url>',
      'of a server that speaks S3; ASSAY_S3_ACCESS_KEY_ID and ASSAY_S3_SECRET_ACCESS_KEY open it (ASSAY_S3_ENDPOINT; default: AWS)',
    )
    .option(
      '--s3-region <name>',
      'of the buckets (ASSAY_S3_REGION; default: AWS_REGION or us-east-1)',
    )
    .option(
      '--s3-path-style <on|off>',
      'whether buckets are in the path, not in the host’s name (ASSAY_S3_PATH_STYLE; default: on with an endpoint)',
    )
}
