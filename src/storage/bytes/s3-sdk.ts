/**
 * The parts of the AWS SDK that are used, to be imported dynamically and together: without a bucket
 * no process loads them. Named here one by one, since a bundle knows the names of what is
 * imported from these packages only where they are written out.
 */
export {
  DeleteObjectCommand,
  GetBucketCorsCommand,
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketOwnershipControlsCommand,
  GetBucketPolicyCommand,
  GetBucketPolicyStatusCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetPublicAccessBlockCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  S3Client,
  type GetObjectCommandInput,
  type LifecycleRule,
  type ListObjectVersionsCommandOutput,
} from "@aws-sdk/client-s3";
export { getSignedUrl } from "@aws-sdk/s3-request-presigner";
