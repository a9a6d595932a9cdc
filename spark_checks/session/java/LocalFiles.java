import java.io.IOException;
import java.lang.reflect.Field;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's local files, whose modes this process sets itself.
 *
 * <p>Without its native library, Hadoop starts a process for each file and folder that it
 * creates, to set the mode. All else is Hadoop's own.
 */
public class LocalFiles extends RawLocalFileSystem {
  private static final URI ROOT = URI.create("file:///");
  private static final String MODE = "unix:mode";
  private static final LinkOption[] FOLLOW = new LinkOption[0];
  private static final int IDS = 06000;

  /** Serves all who open local files in the usual way; returns whether it does. */
  public boolean install(Configuration configuration) throws Exception {
    // What is around Hadoop's own local files, such as checksums, stays as it is.
    FileSystem around = FileSystem.get(ROOT, configuration);
    Field inside = FilterFileSystem.class.getDeclaredField("fs");
    inside.setAccessible(true);
    if (inside.get(around).getClass() != RawLocalFileSystem.class) {
      return false;
    }
    initialize(ROOT, configuration);
    inside.set(around, this);
    return true;
  }

  public void setPermission(Path path, FsPermission mode) throws IOException {
    java.nio.file.Path place = pathToFile(path).toPath();
    int bits = mode.toShort();
    if (Files.isDirectory(place, FOLLOW)) {
      // As chmod does: below such a folder, files have its group.
      bits |= ((Integer) Files.getAttribute(place, MODE, FOLLOW)).intValue() & IDS;
    }
    Files.setAttribute(place, MODE, Integer.valueOf(bits), FOLLOW);
  }
}
