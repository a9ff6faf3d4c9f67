import os
import shutil
import sys

from tools.screenshots.camera import main

try:
    sys.exit(main(sys.argv[1:]))
finally:
    shutil.rmtree(os.environ["VAR_DIR"], ignore_errors=True)
